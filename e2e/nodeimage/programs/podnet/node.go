package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// conflistFile is where the container runtime looks for how to connect pods.
const conflistFile = "/etc/cni/net.d/10-podnet.conflist"

// conflist connects a pod to its node by a pair of interfaces, with an address of the node's. Addresses that are given out are
// kept where a restart of the node forgets them, as it does the pods.
func conflist(pods netip.Prefix, mtu int) string {
	return fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "podnet",
  "plugins": [
    {"type": "ptp", "ipMasq": false, "mtu": %d,
     "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam", "ranges": [[{"subnet": "%s"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, mtu, pods)
}

// writeConflist never shows half of it.
func writeConflist(content string) error {
	temporary := conflistFile + ".new"
	if err := os.WriteFile(temporary, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, conflistFile)
}

// mtu is that of the interface with the node's address: longer packets would not leave the node.
func mtu(address string) int {
	interfaces, _ := net.Interfaces() // none is like not found
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		if slices.ContainsFunc(addresses, func(a net.Addr) bool { return strings.HasPrefix(a.String(), address+"/") }) {
			return i.MTU
		}
	}
	return 1500
}

func route(ctx context.Context, pods, gateway string) error {
	return command(ctx, "", "ip", "-4", "route", "replace", pods, "via", gateway)
}

func filter(ctx context.Context, ruleset string) error {
	return command(ctx, ruleset, "nft", "-f", "-")
}

func command(ctx context.Context, stdin, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(string(output)))
	}
	return nil
}
