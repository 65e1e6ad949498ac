/* Put at the top of an app's page by the gateway: the app says names of its own server, the host knows ours. */
(({ server, names }) => {
  const host = window.parent;
  const apps = `ui://nlui/${server}/`;
  const resources = `compositor://${server}/resource/`;
  const own = new Map(Object.entries(names));
  const local = new Map([...own].map(([inner, listed]) => [listed, inner]));
  const toolOut = (name) => own.get(name) ?? (String(name).startsWith(`${server}__`) ? name : `${server}__${name}`);
  const uriOut = (uri) => {
    if (typeof uri !== "string" || uri.startsWith(apps) || uri.startsWith("compositor://")) {
      return uri;
    }
    return uri.startsWith("ui://") ? apps + uri.slice(5) : resources + encodeURIComponent(uri);
  };
  const uriIn = (uri) => {
    if (typeof uri !== "string") {
      return uri;
    }
    return uri.startsWith(apps) ? `ui://${uri.slice(apps.length)}` : uri.startsWith(resources) ? decodeURIComponent(uri.slice(resources.length)) : uri;
  };
  const outgoing = (message) => {
    const params = message?.params;
    if (message?.jsonrpc !== "2.0" || typeof params !== "object" || params === null) {
      return message;
    }
    if (message.method === "tools/call") {
      return { ...message, params: { ...params, name: toolOut(params.name) } };
    }
    return /^resources\/(read|subscribe|unsubscribe)$/.test(message.method) ? { ...message, params: { ...params, uri: uriOut(params.uri) } } : message;
  };
  const block = (one) => {
    if (typeof one !== "object" || one === null) {
      return one;
    }
    const inner = one.resource && typeof one.resource === "object" ? { resource: block(one.resource) } : {};
    return { ...one, ...("uri" in one ? { uri: uriIn(one.uri) } : {}), ...inner };
  };
  const toolIn = (info) => (info?.tool ? { ...info, tool: { ...info.tool, name: local.get(info.tool.name) ?? info.tool.name } } : info);
  const body = (part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) {
      return part;
    }
    const copy = "uri" in part ? { ...part, uri: uriIn(part.uri) } : { ...part };
    for (const key of ["contents", "content", "resources"]) {
      if (Array.isArray(copy[key])) {
        copy[key] = copy[key].map(block);
      }
    }
    if (copy.toolInfo) {
      copy.toolInfo = toolIn(copy.toolInfo);
    }
    if (copy.hostContext?.toolInfo) {
      copy.hostContext = { ...copy.hostContext, toolInfo: toolIn(copy.hostContext.toolInfo) };
    }
    return copy;
  };
  const incoming = (message) => {
    const found = { ...message };
    for (const key of ["params", "result"]) {
      if (key in found) {
        found[key] = body(found[key]);
      }
    }
    return found;
  };
  const bridge = {
    postMessage(message, ...rest) {
      host.postMessage(outgoing(message), ...rest);
    },
  };
  Object.defineProperty(window, "parent", { value: bridge, configurable: true });
  // First of all listeners: what follows sees the app's own names, and a source that equals window.parent.
  window.addEventListener(
    "message",
    (event) => {
      if (event.source === host) {
        const data = event.data?.jsonrpc === "2.0" ? incoming(event.data) : event.data;
        Object.defineProperties(event, { source: { value: bridge }, data: { value: data } });
      }
    },
    true,
  );
})(/* view */);
