// Package suggest answers "did you mean": the name among those that exist which a user most likely meant by one that
// does not. It imports nothing of moon's, so that keys, actions, hosts, steps and packages are all suggested alike.
package suggest
