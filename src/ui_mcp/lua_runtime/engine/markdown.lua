-- A subset of Markdown: headings, paragraphs, lists, quotes, code, links. HTML in the text is escaped.
local E = ...
local gsub, find, match, gmatch, lower = string.gsub, string.find, string.match, string.gmatch, string.lower
local concat, tonumber = table.concat, tonumber

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

local function escaped(s) return (gsub(s, "[&<>\"']", entities)) end

local function link(text, url)
  local scheme = match(lower((gsub(url, "[%s%c]", ""))), "^([%w+.-]+):")
  if scheme and scheme ~= "http" and scheme ~= "https" and scheme ~= "mailto" then return text end
  return '<a href="' .. url .. '">' .. text .. "</a>"
end

-- Code spans are replaced by placeholders meanwhile, so that no markup inside them is interpreted.
local function inline(s)
  local kept = {}
  s = gsub(s, "[%z\1\2]", "")
  s = gsub(escaped(s), "`([^`]+)`", function(code)
    kept[#kept + 1] = "<code>" .. code .. "</code>"
    return "\1" .. #kept .. "\2"
  end)
  s = gsub(s, "%[([^%]]*)%]%(([^%s)]+)%)", link)
  s = gsub(s, "%*%*([^*]+)%*%*", "<strong>%1</strong>")
  s = gsub(s, "%*([^*%s][^*]*)%*", "<em>%1</em>")
  s = gsub(s, "%f[%w_]_([^_]+)_%f[^%w_]", "<em>%1</em>")
  return (gsub(s, "\1(%d+)\2", function(n) return kept[tonumber(n)] end))
end

local function heading(line)
  local marks, text = match(line, "^(#+)%s+(.-)%s*#*$")
  if marks and #marks <= 6 then return "<h" .. #marks .. ">" .. inline(text) .. "</h" .. #marks .. ">" end
end

local function item(line)
  local text = match(line, "^%s*[-*+]%s+(.*)$")
  if text then return "ul", text end
  text = match(line, "^%s*%d+[.)]%s+(.*)$")
  if text then return "ol", text end
end

function E.markdown(text)
  local out, paragraph, list, code = {}, {}, nil, nil
  local function put(html) out[#out + 1] = html end
  local function close()
    if #paragraph > 0 then put("<p>" .. inline(concat(paragraph, "\n")) .. "</p>") end
    if list then put("</" .. list .. ">") end
    paragraph, list = {}, nil
  end
  local function ordinary(line)
    local kind, content = item(line)
    local head = heading(line)
    if kind then
      if list ~= kind then
        close()
        list = kind
        put("<" .. kind .. ">")
      end
      put("<li>" .. inline(content) .. "</li>")
    elseif head then
      close()
      put(head)
    elseif find(line, "^%s*$") then close()
    elseif find(line, "^%s*[-*_][-*_%s]*$") and #(gsub(line, "%s", "")) >= 3 then
      close()
      put("<hr>")
    elseif find(line, "^>") then
      close()
      put("<blockquote>" .. inline(match(line, "^>%s?(.*)$")) .. "</blockquote>")
    else
      if list then close() end
      paragraph[#paragraph + 1] = line
    end
  end
  for line in gmatch(gsub(text, "\r\n?", "\n") .. "\n", "(.-)\n") do
    if find(line, "^```") then
      if code then put("<pre><code>" .. escaped(concat(code, "\n")) .. "</code></pre>") else close() end
      code = not code and {} or nil
    elseif code then code[#code + 1] = line
    else ordinary(line) end
  end
  if code then put("<pre><code>" .. escaped(concat(code, "\n")) .. "</code></pre>") end
  close()
  return concat(out, "\n")
end
