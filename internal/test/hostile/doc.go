// Package hostile gives moon what it must survive: hostile files, repositories, hosts, plugins, floods of output; and looks for secrets.
//
//	hostile input ──▶ moon ──▶ refused with a message, in bounds of time and memory, nothing of it shown or kept
package hostile
