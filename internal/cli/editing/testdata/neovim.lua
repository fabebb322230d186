-- A session in Neovim: it types a mistake, fixes it, and asks about a place. What the server says goes to $ANSWERS as JSON.
local out, all = {}, vim.env.PLAYBOOK
vim.cmd('edit ' .. all)
local buf = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({
  name = 'moon', cmd = { vim.env.SERVER, 'lsp' }, cmd_env = { MOON_TEST_LSP = '1' }, root_dir = vim.fn.fnamemodify(all, ':h'),
})
vim.lsp.buf_attach_client(buf, client)

local function wait(what, ok)
  if not vim.wait(20000, ok, 20) then
    out.failed = what
  end
end

local function ask(method, line, character)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf), position = { line = line, character = character } }
  local answers = vim.lsp.buf_request_sync(buf, method, params, 20000) or {}
  return (answers[client] or {}).result
end

wait('initialize', function() return vim.lsp.get_client_by_id(client).initialized end)
vim.api.nvim_buf_set_lines(buf, 3, 4, false, { '  - shel: echo {{ who }} 𝄞' })
wait('a diagnostic', function() return #vim.diagnostic.get(buf) == 1 end)
local d = vim.diagnostic.get(buf)[1] or {}
out.diagnostic = { d.lnum, d.col, d.end_col, d.message }
vim.api.nvim_buf_set_lines(buf, 3, 4, false, { '  - shell: echo 𝄞 {{ who }}' })
wait('no diagnostic', function() return #vim.diagnostic.get(buf) == 0 end)
out.hover = (ask('textDocument/hover', 3, 22) or { contents = {} }).contents.value
out.definition = ((ask('textDocument/definition', 3, 22) or {})[1] or {}).range
out.symbols = {}
for _, s in ipairs(ask('textDocument/documentSymbol', 0, 0) or {}) do
  table.insert(out.symbols, s.name)
end
-- An edit of the server, as Neovim makes it.
vim.api.nvim_win_set_cursor(0, { 4, 25 })
vim.lsp.buf.rename('whom')
wait('the new name', function() return (vim.api.nvim_buf_get_lines(buf, 3, 4, false)[1] or ''):find('whom') ~= nil end)
out.renamed = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
local file = io.open(vim.env.ANSWERS, 'w')
file:write(vim.json.encode(out))
file:close()
vim.lsp.stop_client(client)
wait('the end', function() return vim.lsp.client_is_stopped(client) end)
vim.cmd('qa!')
