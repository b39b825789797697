package calico

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeIPTables stands for iptables-nft and ip6tables-nft, their -save and their -restore. The chain POSTROUTING of each is a file of
// lines, and so is each other chain. What is refused is named in the file "broken".
const fakeIPTables = `#!/bin/sh
name=${0##*/}
echo "$name $*" >> "$STATE/calls"
grep -qx "$name" "$STATE/broken" 2>/dev/null && exit 1
table=$STATE/${name%-save}; table=${table%-restore}
case "$name" in
*legacy*) exit 1 ;;
*-save) printf '*mangle\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n'; exit ;;
*-restore)
  while read -r word rest; do
    case "$word" in
    :*) : > "$table.${word#:}" ;;
    -D)
      grep -vxF -e "-A $rest" "$table.${rest%% *}" > "$table.kept"
      mv "$table.kept" "$table.${rest%% *}"
      ;;
    -A) printf -- '-A %s\n' "$rest" >> "$table.${rest%% *}" ;;
    -X) rm "$table.$rest" ;;
    esac
  done
  exit ;;
esac
shift # -w
shift 2 # -t and the table
what=$1 chain=$2
shift 2
touch "$table.POSTROUTING" "$table.OUTPUT"
case "$what" in
-S) cat "$table.$chain" ;;
-C) grep -qxF -e "-A $chain $*" "$table.$chain" ;;
-I)
  [ "$1" != 1 ] || shift
  { echo "-A $chain $*"; cat "$table.$chain"; } > "$table.new" && mv "$table.new" "$table.$chain"
  ;;
esac
`

// fakeSleep passes at once. After each sleep the test may change something; after the last one the script is told to end.
const fakeSleep = `#!/bin/sh
n=$(($(cat "$STATE/slept" 2>/dev/null || echo 0) + 1))
echo $n > "$STATE/slept"
[ ! -e "$STATE/after-$n" ] || . "$STATE/after-$n"
[ $n -lt "$SLEEPS" ] || kill -TERM $PPID
`

// recordingTool says what it was called with, and fails if the file "broken" names it.
const recordingTool = `#!/bin/sh
echo "${0##*/} $*" >> "$STATE/calls"
! grep -qxF -e "${0##*/} $*" "$STATE/broken" 2>/dev/null
`

// scriptSandbox is where a script runs: the node's tools are fakes that keep what they know in a folder.
type scriptSandbox struct {
	t     *testing.T
	state string
	tools string
}

func newScriptSandbox(t *testing.T) *scriptSandbox {
	t.Helper()
	s := &scriptSandbox{t: t, state: t.TempDir(), tools: t.TempDir()}
	for _, variant := range []string{"nft", "legacy"} {
		for _, suffix := range []string{"", "-save", "-restore"} {
			s.addTool("iptables-"+variant+suffix, fakeIPTables)
			s.addTool("ip6tables-"+variant+suffix, fakeIPTables)
		}
	}
	s.addTool("sleep", fakeSleep)
	s.addTool("ip", recordingTool)
	s.addTool("calico-node", recordingTool)
	return s
}

func (s *scriptSandbox) addTool(name, script string) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.tools, name), []byte(script), 0o700))
}

func (s *scriptSandbox) write(name, content string) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.state, name), []byte(content), 0o600))
}

func (s *scriptSandbox) read(name string) string {
	content, err := os.ReadFile(filepath.Join(s.state, name))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(s.t, err)
	return string(content)
}

// run runs a script until it ends, or has slept so often.
func (s *scriptSandbox) run(script string, sleeps int, env ...string) error {
	s.t.Helper()
	require.NoError(s.t, os.RemoveAll(filepath.Join(s.state, "slept")))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-c", script)
	command.Env = slices.Concat(env, []string{
		"STATE=" + s.state, fmt.Sprint("SLEEPS=", sleeps),
		"RESOLV_CONF=" + filepath.Join(s.state, "resolv.conf"), "PATH=" + s.tools + ":" + os.Getenv("PATH"),
	})
	output, err := command.CombinedOutput()
	s.t.Logf("%s", output)
	require.NoError(s.t, ctx.Err())
	return err
}

const (
	toChain     = "-A POSTROUTING -j UPSTREAM-DNS\n"
	othersRule  = "-A POSTROUTING -m comment --comment \"kubernetes postrouting rules\" -j KUBE-POSTROUTING\n"
	upstreams   = "-A POSTROUTING -s 100.96.0.0/11 -d 10.0.0.9/32 ! -o cali+ -m comment --comment \"calico masquerade non-cluster\" -j MASQUERADE\n"
	podsOfIPv4  = "POD_CIDRS=100.96.0.0/11"
	podsOfBoth  = "POD_CIDRS=100.96.0.0/11 2001:db8:1::/48"
	postrouting = "iptables-nft.POSTROUTING"
	masquerade  = "iptables-nft.UPSTREAM-DNS"
)

func masquerading(pods, server string) string {
	return fmt.Sprintf("-A UPSTREAM-DNS -s %s -d %s ! -o cali+ -m comment --comment \"pods to DNS servers of the node\" -j MASQUERADE\n", pods, server)
}

func TestMasqueradeUpstreamDNS(t *testing.T) {
	s := newScriptSandbox(t)
	s.write(postrouting, othersRule)
	s.write("resolv.conf", "# made by somebody\nsearch example.org\nnameserver 10.0.0.1\n  nameserver\t10.0.0.2 # second\nnameserver 2001:db8::53\n")
	require.NoError(t, s.run(masqueradeUpstreamDNS, 3, podsOfIPv4))
	assert.Equal(t, toChain+othersRule, s.read(postrouting), "once, and before the others")
	assert.Equal(t, masquerading("100.96.0.0/11", "10.0.0.1")+masquerading("100.96.0.0/11", "10.0.0.2"), s.read(masquerade))
	assert.Empty(t, s.read("ip6tables-nft.UPSTREAM-DNS"), "pods have no IPv6")
	assert.NotContains(t, s.read("calls"), "tables-legacy -", "the other iptables is left alone")

	require.NoError(t, s.run(masqueradeUpstreamDNS, 1, podsOfIPv4), "a container that starts again")
	assert.Equal(t, toChain+othersRule, s.read(postrouting))
}

func TestMasqueradeUpstreamDNS_DualStack(t *testing.T) {
	s := newScriptSandbox(t)
	s.write("resolv.conf", "nameserver 10.0.0.1\nnameserver fe80::1%eth0\n")
	require.NoError(t, s.run(masqueradeUpstreamDNS, 1, podsOfBoth))
	assert.Equal(t, masquerading("100.96.0.0/11", "10.0.0.1"), s.read(masquerade))
	assert.Equal(t, masquerading("2001:db8:1::/48", "fe80::1"), s.read("ip6tables-nft.UPSTREAM-DNS"))
}

func TestMasqueradeUpstreamDNS_ServersChanged(t *testing.T) {
	s := newScriptSandbox(t)
	s.write("resolv.conf", "nameserver 10.0.0.1\n")
	s.write("after-1", "echo 'nameserver 10.0.0.7' > $STATE/resolv.conf\n")
	require.NoError(t, s.run(masqueradeUpstreamDNS, 2, podsOfIPv4))
	assert.Equal(t, masquerading("100.96.0.0/11", "10.0.0.7"), s.read(masquerade), "nothing of the former server is left")
	assert.Equal(t, toChain, s.read(postrouting))
}

func TestMasqueradeUpstreamDNS_Failures(t *testing.T) {
	for sentence, test := range map[string]struct{ before, after string }{
		"there is no resolv.conf for a while":  {"", "echo 'nameserver 10.0.0.1' > $STATE/resolv.conf\n"},
		"resolv.conf vanishes":                 {"nameserver 10.0.0.1\n", "rm $STATE/resolv.conf\n"},
		"resolv.conf is just being written":    {"nameserver 10.0.0.1\n", "> $STATE/resolv.conf\n"},
		"rules are removed by somebody":        {"nameserver 10.0.0.1\n", "rm -f $STATE/" + postrouting + " $STATE/" + masquerade + "\n"},
		"the packet filter is busy in between": {"nameserver 10.0.0.1\n", "echo iptables-nft-restore > $STATE/broken\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newScriptSandbox(t)
			if test.before != "" {
				s.write("resolv.conf", test.before)
			}
			s.write("after-1", test.after)
			require.NoError(t, s.run(masqueradeUpstreamDNS, 3, podsOfIPv4))
			assert.Equal(t, masquerading("100.96.0.0/11", "10.0.0.1"), s.read(masquerade))
			assert.Equal(t, toChain, s.read(postrouting))
		})
	}
}

func TestMasqueradeUpstreamDNS_UpstreamRules(t *testing.T) {
	s := newScriptSandbox(t)
	s.write(postrouting, upstreams+othersRule)
	s.write("resolv.conf", "nameserver 10.0.0.1\n")
	require.NoError(t, s.run(masqueradeUpstreamDNS, 1, podsOfIPv4))
	assert.Equal(t, toChain+othersRule, s.read(postrouting))
}

// gardener #4599: rules of what was switched off went on.
func TestMasqueradeUpstreamDNS_Disabled(t *testing.T) {
	for sentence, before := range map[string]struct{ postrouting, chain string }{
		"after us":              {toChain + othersRule, masquerading("100.96.0.0/11", "10.0.0.1")},
		"after upstream":        {upstreams + othersRule, ""},
		"after both":            {toChain + upstreams + othersRule, masquerading("100.96.0.0/11", "10.0.0.1")},
		"where it was never on": {othersRule, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := newScriptSandbox(t)
			s.write(postrouting, before.postrouting)
			if before.chain != "" {
				s.write(masquerade, before.chain)
			}
			require.NoError(t, s.run(masqueradeUpstreamDNS, 1))
			assert.Equal(t, othersRule, s.read(postrouting))
			assert.NoFileExists(t, filepath.Join(s.state, masquerade))
			assert.Empty(t, s.read("slept"), "a step before others ends")
		})
	}
}

func TestMasqueradeUpstreamDNS_IPTablesFail(t *testing.T) {
	s := newScriptSandbox(t)
	s.write(postrouting, toChain)
	s.write("broken", "iptables-nft\nip6tables-nft\niptables-nft-restore\nip6tables-nft-restore\n")
	require.NoError(t, s.run(masqueradeUpstreamDNS, 1))
	require.NoError(t, s.run(logMTUProblems, 1))
}

func TestLogMTUProblems(t *testing.T) {
	s := newScriptSandbox(t)
	for range 2 {
		require.NoError(t, s.run(logMTUProblems, 1))
	}
	assert.Equal(t, `-A OUTPUT -p icmp --icmp-type fragmentation-needed -m comment --comment gardener log mtu problems for ipv4 -j LOG --log-prefix PACKET-TOO-BIG `+"\n",
		s.read("iptables-nft.OUTPUT"))
	assert.Equal(t, 1, strings.Count(s.read("ip6tables-nft.OUTPUT"), "PACKET-TOO-BIG"))
}

// networking-calico PR #546: routes that BIRD had made led packets astray for ever.
func TestRemoveBIRDRoutes(t *testing.T) {
	s := newScriptSandbox(t)
	s.write("broken", "ip -6 route flush proto bird\n")
	require.NoError(t, s.run(removeBIRDRoutes, 1), "a node without IPv6 starts nevertheless")
	assert.Equal(t, "ip -4 route flush proto bird\nip -6 route flush proto bird\n", s.read("calls"))
}

// Since v3.31 calico-node -startup says nothing of the node's condition any more.
func TestConfirmNetwork(t *testing.T) {
	s := newScriptSandbox(t)
	s.write("after-1", "cp $STATE/calls $STATE/too-early 2>/dev/null\n")
	require.NoError(t, s.run(confirmNetwork, 3))
	assert.Equal(t, "calico-node -complete-startup\n", s.read("calls"), "once")
	assert.Empty(t, s.read("too-early"), "the pod that was here before may still end")

	s = newScriptSandbox(t)
	s.write("broken", "calico-node -complete-startup\n")
	require.Error(t, s.run(confirmNetwork, 9), "kubelet starts the container again")
	assert.Equal(t, "1\n", s.read("slept"))
}
