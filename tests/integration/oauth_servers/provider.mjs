// An authorization server of others (npm: oidc-provider) with everything our client uses switched on. Arguments: the port,
// the resource, and the lifetime of access tokens in seconds.
import Provider from "oidc-provider";

const [port, resource, lifetime] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  cookies: { keys: ["a key for tests"] },
  clientDefaults: { grant_types: ["authorization_code", "refresh_token"] },
  scopes: ["openid", "offline_access", "files:read", "files:write"],
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    registration: { enabled: true },
    revocation: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (context, indicator) => {
        if (indicator !== resource) {
          throw new Error(`unknown resource ${indicator}`);
        }
        return { scope: "files:read files:write", audience: resource, accessTokenTTL: Number(lifetime), accessTokenFormat: "opaque" };
      },
    },
  },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  pkce: { required: () => true },
  ttl: { DeviceCode: 600, Grant: 3600, Interaction: 600, Session: 3600, RefreshToken: 3600, IdToken: 600 },
});
provider.listen(Number(port), "127.0.0.1");
