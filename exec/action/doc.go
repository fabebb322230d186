// Package action has what steps do: one file for each action, which registers it by its name, and what several of them share.
//
//	exec.Register(name, Action) ─▶ Local.Run, DryRun.Run ─▶ Plan ─▶ Change ─┬─ Apply     a run
//	                                                                       └─ predicted  a dry run
//
//	files       target (content.go) ◀ copy, template, get_url, edit ◀ lineinfile, blockinfile, replace, cron, sysctl
//	            unpack ◀ unarchive · copytree ◀ copy
//	packages    packager (packages.go) ◀ apt, dnf, apk, pacman, zypper, homebrew, pip ◀ package
//	services    services (service.go) ◀ systemd, OpenRC, init scripts
//	accounts    accounts.go ◀ user, group ◀ home, keys
//	databases   mysql.go ◀ mysql_db, mysql_user · postgres.go ◀ postgresql_* · dump.go ◀ mysql_db, postgresql_db
//	keys        pemFile (pem_file.go) ◀ openssl_privatekey, openssl_publickey, openssl_csr, x509_certificate ◀ package pki
//	others      git, http ◀ uri, get_url · command, shell, script
//
// An action owns nothing that outlives its attempt. What it knows of the step is in exec.Attempt, which also starts its
// programs; files it reaches by anchored names of package fsys. Whoever runs jobs imports this package, or there are no actions.
package action
