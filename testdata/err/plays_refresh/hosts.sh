#!/bin/sh
case $1 in
--list) echo '{"web": ["h1"], "_meta": {"hostvars": {}}}' ;;
esac
