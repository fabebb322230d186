# What docs/tape/orphans.tape plays: a run of all steps, one after some are gone, and the end of everything.
PATH=$HOME/..:$PATH
mkdir srv
moon run shop/playbook.yml >run.txt
cp shop/after.yml shop/playbook.yml
moon tui --orphans remove shop/playbook.yml --theme moonlight
clear
moon destroy --tui shop/playbook.yml --theme moonlight
