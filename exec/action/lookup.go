package action

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What lookups of playbooks reach for, on the machine where moon runs and as its user.

// Fetch gets what is at a URL, for lookup('url').
func Fetch(url string) (string, error) {
	status, body, err := request{method: "GET", url: url, timeout: 30 * time.Second}.sendRequest(context.Background())
	switch {
	case err != nil:
		return "", errors.New(networkReason(err))
	case status < 200 || status > 299:
		return "", fmt.Errorf("the server answered with %d", status)
	}
	return string(body), nil
}
