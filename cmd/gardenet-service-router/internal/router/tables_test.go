package router

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// fakeNFT returns the tables of a program that has the output of some commands, fails for all others, and logs what it is called with.
func fakeNFT(t *testing.T, outputs map[string]string) (nft tables, calls func() string) {
	t.Helper()
	folder := t.TempDir()
	script := "#!/bin/sh\necho \"$*\" >>" + folder + "/calls\n[ \"$1\" = -f ] && cat >>" + folder + "/calls\ncase \"$*\" in\n"
	for command, output := range outputs {
		name := filepath.Join(folder, strings.ReplaceAll(command, " ", "_"))
		require.NoError(t, os.WriteFile(name, []byte(output), 0o600))
		script += "\"" + command + "\") exec cat " + name + ";;\n"
	}
	script += "*) echo no such thing >&2; exit 1;;\nesac\n"
	path := filepath.Join(folder, "nft")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return tables{nft: path}, func() string {
		content, err := os.ReadFile(filepath.Join(folder, "calls"))
		require.NoError(t, err)
		return string(content)
	}
}

const (
	withTable    = `{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"table": {"family": "ip", "name": "nat", "handle": 1}}, {"table": {"family": "ip", "name": "kube-proxy", "handle": 2}}]}`
	withoutTable = `{"nftables": [{"metainfo": {"version": "1.0.6"}}]}`
)

func TestTables_Remove(t *testing.T) {
	nft, calls := fakeNFT(t, map[string]string{"-j list tables ip": withTable, "delete table ip kube-proxy": "", "-j list tables ip6": withoutTable})
	removed, err := nft.remove(t.Context(), corev1.IPv4Protocol)
	require.NoError(t, err)
	assert.True(t, removed)
	removed, err = nft.remove(t.Context(), corev1.IPv6Protocol)
	require.NoError(t, err)
	assert.False(t, removed)
	assert.Equal(t, "-j list tables ip\ndelete table ip kube-proxy\n-j list tables ip6\n", calls())

	nft, _ = fakeNFT(t, map[string]string{"-j list tables ip": withTable, "-j list tables ip6": "none"})
	_, err = nft.remove(t.Context(), corev1.IPv4Protocol)
	assert.ErrorContains(t, err, "nft delete table ip kube-proxy: exit status 1: no such thing")
	_, err = nft.remove(t.Context(), corev1.IPv6Protocol)
	assert.ErrorContains(t, err, "reading what nft lists")
}

func TestTables_Fingerprint(t *testing.T) {
	const listing = "table ip kube-proxy {\n\tset affinity-A {\n\t\ttype ipv4_addr\n\t\telements = { 10.0.0.1 expires 3s }\n\t}\n\n\tchain services {\n\t\tdrop\n\t}\n}\n"
	fingerprintOf := func(listing string) string {
		nft, _ := fakeNFT(t, map[string]string{"-j list tables ip": withTable, "-s list table ip kube-proxy": listing})
		fingerprint, err := nft.fingerprint(t.Context(), corev1.IPv4Protocol)
		require.NoError(t, err)
		require.NotEmpty(t, fingerprint)
		return fingerprint
	}
	assert.Equal(t, fingerprintOf(listing), fingerprintOf(strings.ReplaceAll(listing, "10.0.0.1 expires 3s", "10.0.0.2 expires 9s")), "packets change who has an affinity")
	assert.NotEqual(t, fingerprintOf(listing), fingerprintOf(strings.ReplaceAll(listing, "drop", "accept")))
	assert.Equal(t, []string{"table ip kube-proxy {", "", "chain services {", "drop", "}", "}"}, slices.Collect(stable(listing)))

	nft, _ := fakeNFT(t, map[string]string{"-j list tables ip": withoutTable})
	fingerprint, err := nft.fingerprint(t.Context(), corev1.IPv4Protocol)
	require.NoError(t, err)
	assert.Empty(t, fingerprint, "there is no table")
}

func TestTables_RemoveLeftovers(t *testing.T) {
	// As nft shows what kube-proxy and kubelet have made by iptables-nft.
	const chains = `{"nftables": [{"chain": {"family": "ip", "table": "nat", "name": "KUBE-SERVICES"}}, {"chain": {"family": "ip", "table": "filter", "name": "KUBE-FIREWALL"}},
		{"chain": {"family": "ip", "table": "kube-proxy", "name": "services"}}]}`
	const nat = `{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"table": {"family": "ip", "name": "nat", "handle": 1}},
		{"chain": {"family": "ip", "table": "nat", "name": "KUBE-SERVICES", "handle": 1}}, {"chain": {"family": "ip", "table": "nat", "name": "KUBE-KUBELET-CANARY", "handle": 2}},
		{"chain": {"family": "ip", "table": "nat", "name": "KUBE-SVC-A", "handle": 3}},
		{"chain": {"family": "ip", "table": "nat", "name": "PREROUTING", "handle": 4, "type": "nat", "hook": "prerouting", "prio": -100, "policy": "accept"}},
		{"rule": {"family": "ip", "table": "nat", "chain": "KUBE-SERVICES", "handle": 6, "expr": [{"counter": {"packets": 0, "bytes": 0}}, {"jump": {"target": "KUBE-SVC-A"}}]}},
		{"rule": {"family": "ip", "table": "nat", "chain": "PREROUTING", "handle": 5, "expr": [{"xt": {"type": "match", "name": "comment"}}, {"jump": {"target": "KUBE-SERVICES"}}]}},
		{"rule": {"family": "ip", "table": "nat", "chain": "PREROUTING", "handle": 7, "expr": [{"goto": {"target": "KUBE-SVC-A"}}]}},
		{"rule": {"family": "ip", "table": "nat", "chain": "PREROUTING", "handle": 8, "expr": [{"accept": null}, {"jump": {"target": "KUBE-KUBELET-CANARY"}}]}}]}`
	nft, calls := fakeNFT(t, map[string]string{"-j list chains ip": chains, "-j list table ip nat": nat, "-f -": ""})
	removed, err := nft.removeLeftovers(t.Context(), corev1.IPv4Protocol)
	require.NoError(t, err)
	assert.Equal(t, 2, removed)
	assert.Equal(t, `-j list chains ip
-j list table ip nat
-f -
delete rule ip nat PREROUTING handle 5
delete rule ip nat PREROUTING handle 7
flush chain ip nat KUBE-SERVICES
flush chain ip nat KUBE-SVC-A
delete chain ip nat KUBE-SERVICES
delete chain ip nat KUBE-SVC-A
`, calls())

	nft, calls = fakeNFT(t, map[string]string{"-j list chains ip6": `{"nftables": [{"chain": {"family": "ip6", "table": "kube-proxy", "name": "services"}}]}`})
	removed, err = nft.removeLeftovers(t.Context(), corev1.IPv6Protocol)
	require.NoError(t, err)
	assert.Zero(t, removed)
	assert.Equal(t, "-j list chains ip6\n", calls(), "nothing is changed")
}
