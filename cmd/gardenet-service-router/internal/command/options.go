package command

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/trellis-garden/trellis/internal/logging"
)

const (
	// defaultVerifyInterval is how often the rules are verified.
	defaultVerifyInterval = 30 * time.Second
	// defaultBindAddress is next to that of gardenet's agent. The others are kube-proxy's.
	defaultBindAddress, defaultHealthAddress, defaultKubeProxy = "127.0.0.1:19082", ":10256", "127.0.0.1:10249"
)

// options are the parsed command line.
type options struct {
	version bool

	node, kubeconfig          string
	podRanges, serviceRanges  []netip.Prefix
	handOver                  bool
	bindAddress               string
	healthAddress, kubeProxy  string
	nft                       string
	verifyInterval            time.Duration
	logLevel, logFormat       string
	podRangesText, rangesText []string
}

// flags returns the flags that set the options.
func (o *options) flags(node string) *pflag.FlagSet {
	flags := pflag.NewFlagSet("gardenet-service-router", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.node, "node", node, "name of the Node that the router runs on; $NODE_NAME if not given")
	flags.StringSliceVar(&o.podRangesText, "pod-ranges", nil, "ranges of all pods, one of each family whose Services are routed")
	flags.StringSliceVar(&o.rangesText, "service-ranges", nil, "ranges of Services; packets to their other addresses are dropped")
	flags.BoolVar(&o.handOver, "hand-over", false, "route until kube-proxy does on this node, then remove the rules")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the shoot; without it, the router uses the ServiceAccount of its pod")
	flags.StringVar(&o.nft, "nft", "nft", "program nft, by its path, or its name in $PATH; the proxier takes that of $PATH in any case")
	flags.DurationVar(&o.verifyInterval, "verify-interval", defaultVerifyInterval, "how often the rules in the kernel are verified")
	flags.StringVar(&o.bindAddress, "bind-address", defaultBindAddress, "where /metrics, /healthz and /readyz are served")
	flags.StringVar(&o.healthAddress, "health-address", defaultHealthAddress, "where load balancers ask whether the node routes Services; served when kube-proxy does not")
	flags.StringVar(&o.kubeProxy, "kube-proxy", defaultKubeProxy, "where kube-proxy on this node serves its metrics, if it runs")
	flags.StringVar(&o.logLevel, "log-level", logging.Info, "what is logged: debug, info or error")
	flags.StringVar(&o.logFormat, "log-format", logging.JSON, "how it is logged: json or text")
	flags.BoolVar(&o.version, "version", false, "print version, commit and date")
	return flags
}

// complete reads and validates what was given. The error has all that is wrong.
func (o *options) complete() error {
	var problems []error
	if o.node == "" {
		problems = append(problems, errors.New("--node: required; set it, or $NODE_NAME, to the name of the Node (spec.nodeName of the pod)"))
	}
	for _, ranges := range []struct {
		flag  string
		texts []string
		into  *[]netip.Prefix
	}{{"--pod-ranges", o.podRangesText, &o.podRanges}, {"--service-ranges", o.rangesText, &o.serviceRanges}} {
		for _, text := range ranges.texts {
			prefix, err := netip.ParsePrefix(text)
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %q must be a range in CIDR notation", ranges.flag, text))
				continue
			}
			*ranges.into = append(*ranges.into, prefix.Masked())
		}
	}
	if families := familiesOf(o.podRanges); len(o.podRangesText) == 0 || len(families) < len(o.podRanges) {
		problems = append(problems, errors.New("--pod-ranges: give one range of each family"))
	}
	if o.verifyInterval <= 0 {
		problems = append(problems, fmt.Errorf("--verify-interval: %s must be more than nothing", o.verifyInterval))
	}
	if !slices.Contains(logging.Levels(), o.logLevel) {
		problems = append(problems, fmt.Errorf("--log-level: %q is unknown; allowed: %s", o.logLevel, strings.Join(logging.Levels(), ", ")))
	}
	if !slices.Contains(logging.Formats(), o.logFormat) {
		problems = append(problems, fmt.Errorf("--log-format: %q is unknown; allowed: %s", o.logFormat, strings.Join(logging.Formats(), ", ")))
	}
	return errors.Join(problems...)
}

// familiesOf returns which families the ranges have: true for IPv4.
func familiesOf(ranges []netip.Prefix) map[bool]bool {
	families := map[bool]bool{}
	for _, prefix := range ranges {
		families[prefix.Addr().Is4()] = true
	}
	return families
}
