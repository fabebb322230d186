// The extension starts `moon lsp` and runs steps in a terminal. What is known of playbooks the server knows.
'use strict';

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

const setting = () => vscode.workspace.getConfiguration('moon');

function newClient() {
  const server = {
    command: setting().get('path'),
    args: ['lsp', ...setting().get('arguments')],
    transport: TransportKind.stdio,
  };
  return new LanguageClient('moon', 'moon', server, {
    documentSelector: [
      { scheme: 'file', language: 'yaml' },
      { scheme: 'file', language: 'ansible' },
      { scheme: 'file', language: 'jinja' },
      { scheme: 'file', pattern: '**/*.j2' },
    ],
  });
}

// runInTerminal starts moon without a shell in between: no text of a playbook is read as a command.
function runInTerminal(args) {
  const terminal = vscode.window.createTerminal({
    name: 'moon ' + args[0],
    shellPath: setting().get('path'),
    shellArgs: args,
    cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
  });
  terminal.show();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('moon.run', (playbook, ...targets) => {
      if (!vscode.workspace.isTrusted || typeof playbook !== 'string') {
        return;
      }
      runInTerminal(['run', ...setting().get('arguments'), playbook, ...targets.map(String)]);
    }),
    vscode.commands.registerCommand('moon.plan', () => {
      const file = vscode.window.activeTextEditor?.document.uri.fsPath;
      if (file) {
        runInTerminal(['plan', ...setting().get('arguments'), file]);
      }
    }),
    vscode.commands.registerCommand('moon.restart', async () => {
      await client?.stop();
      client = newClient();
      await client.start();
    }),
  );
  client = newClient();
  await client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
