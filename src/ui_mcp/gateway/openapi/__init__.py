"""HTTP APIs described by OpenAPI documents, as toolsets."""
