# fencepost serve, with what parsing needs and nothing to train with: no torch.
#
#     docker build -t fencepost .
#     docker run --rm -p 8000:8000 fencepost
#
# The model that ships is inside, so nothing is fetched at run time. Another one is a folder:
#
#     docker run --rm -p 8000:8000 -v "$PWD/model:/model:ro" fencepost serve /model --host 0.0.0.0
#
# A server that others can reach wants a token (FENCEPOST_TOKEN) and names (--allow-host); see
# docs/guides/serve.md.

FROM python:3.13-slim AS build
WORKDIR /src
COPY constraints.txt pyproject.toml README.md LICENSE CHANGELOG.md CITATION.cff ./
COPY src ./src
RUN python -m venv /opt/fencepost \
 && /opt/fencepost/bin/pip install --no-cache-dir --constraint constraints.txt ".[serve]" \
 && /opt/fencepost/bin/pip uninstall --yes pip

FROM python:3.13-slim
LABEL org.opencontainers.image.title="fencepost" \
      org.opencontainers.image.description="Constituency trees and nested entities over HTTP" \
      org.opencontainers.image.licenses="Apache-2.0 AND CC-BY-SA-4.0"
RUN useradd --system --uid 10001 --create-home fencepost
COPY --from=build /opt/fencepost /opt/fencepost
ENV PATH=/opt/fencepost/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    OMP_WAIT_POLICY=PASSIVE \
    HF_HUB_OFFLINE=1
USER 10001
WORKDIR /home/fencepost
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen as u; u('http://127.0.0.1:8000/v1/health', timeout=4)"]
ENTRYPOINT ["fencepost"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
