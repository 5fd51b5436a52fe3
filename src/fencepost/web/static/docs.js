// The page about the HTTP interface: Swagger UI, from this server alone.
SwaggerUIBundle({ url: "openapi.json", domNode: document.getElementById("interface"), deepLinking: true });
