"""The viewdefs every project has, whatever is installed."""

BUILTIN = {
    "lua.ViewList.DEFAULT": (
        '<template><div class="view-list"><div ui-viewlist="items" ui-namespace="list-item"></div></div></template>'
    ),
    "lua.ViewListItem.list-item": '<template><div ui-view="item"></div></template>',
    "MCP.DEFAULT": '<template><div ui-view="value"></div></template>',
}
