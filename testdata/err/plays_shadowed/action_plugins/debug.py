from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    pass
