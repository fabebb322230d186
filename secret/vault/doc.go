// Package vault reads and writes what Ansible Vault encrypts: files, and values in files. It knows texts, and no files.
//
// The format, versions 1.1 and 1.2, is described in Ansible's documentation ("Format of files encrypted with Ansible Vault"):
//
//	$ANSIBLE_VAULT;1.2;AES256;label        the label, of the password to take, came with 1.2
//	hex of: hex of salt ⏎ hex of MAC ⏎ hex of ciphertext        in lines of 80
//
// PBKDF2 with SHA-256 makes of password and salt, in 10,000 rounds, 32 bytes that encrypt (AES-256, CTR), 32 that authenticate
// the ciphertext (HMAC-SHA-256), and the first counter. The text is padded to whole blocks before it is encrypted.
package vault
