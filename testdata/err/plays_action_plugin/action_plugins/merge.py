from ansible.plugins.action import ActionBase
