// Light or dark, as the system says or as chosen here. It runs before the page is drawn, so that
// nothing flashes in the wrong colours.

(() => {
  const KEY = "fencepost-theme";

  /** The theme that was kept; "system" if there is none, or nothing may be kept. */
  function kept() {
    try {
      return localStorage.getItem(KEY) ?? "system";
    } catch {
      return "system";
    }
  }

  function use(theme) {
    document.documentElement.dataset.theme = theme;
  }

  use(kept());
  document.addEventListener("DOMContentLoaded", () => {
    for (const choice of document.querySelectorAll("input[name=theme]")) {
      choice.checked = choice.value === kept();
      choice.addEventListener("change", () => {
        use(choice.value);
        try {
          localStorage.setItem(KEY, choice.value);
        } catch {
          // It then holds for this visit only.
        }
      });
    }
  });
})();
