package main

import (
	"context"
	"os/exec"
	"strings"
)

// commitOf names what the checkout was built from; "-dirty" says that it was not all committed.
func commitOf(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12", "--match=").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
