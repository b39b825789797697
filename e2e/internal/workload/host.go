package workload

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// CanNameHosts returns why processes cannot have host names of their own, as pods have: that needs a UTS namespace, and the right to create one.
func CanNameHosts(ctx context.Context) error {
	const name = "some-pod"
	program, args := withHostname(name, "hostname", nil)
	output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("naming a host: %w: %s", err, output)
	}
	if found := strings.TrimSpace(string(output)); found != name {
		return fmt.Errorf("naming a host %s: it is called %s", name, found)
	}
	return nil
}

// withHostname makes a program start with another host name, in the same process.
func withHostname(name, program string, args []string) (string, []string) {
	unshare := []string{"--uts"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	unshare = append(unshare, "--", "/bin/sh", "-c", `hostname "$0" && exec "$@"`, name, program)
	return "unshare", append(unshare, args...)
}
