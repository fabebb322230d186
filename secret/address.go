package secret

import "net/url"

// WithoutPassword is an address without the password that it holds, as git is given it: the password goes another way. What is not an
// http or https URL is unchanged.
func WithoutPassword(repo string) string {
	u, err := url.Parse(repo)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User == nil {
		return repo
	}
	if _, has := u.User.Password(); has {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}
