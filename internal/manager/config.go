package manager

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/logging"
)

const (
	rolePrimary   = "primary"
	roleSecondary = "secondary"
)

const (
	defaultObservationInterval = 10 * time.Minute
	// minObservationInterval protects clouds: an observation reads whole accounts.
	minObservationInterval = 10 * time.Second
)

// config contains the values of all flags.
type config struct {
	types                     []string
	classes                   []string
	role                      string
	observations              []string
	observationInterval       time.Duration
	cleanupConfigMap          string
	maxConcurrentReconciles   int
	ignoreOperationAnnotation bool
	gardenerVersion           string

	kubeconfig              string
	gardenKubeconfig        string
	leaderElection          bool
	leaderElectionID        string
	leaderElectionNamespace string
	heartbeatNamespace      string
	heartbeatRenewSeconds   int

	healthBindAddress  string
	metricsBindAddress string
	pprofBindAddress   string
	logLevel           string
	logFormat          string

	webhooks WebhookOptions

	help    bool
	version bool
	// command is the name of one of the Binary's, or empty.
	command string
}

// defaultConfig returns the defaults of all flags. Types have no default on purpose: a binary must not serve a type that is not in its registration.
func defaultConfig(b Binary, env environment) config {
	cfg := config{
		kubeconfig:              env.kubeconfig,
		leaderElection:          true,
		leaderElectionID:        b.Name + "-leader-election",
		leaderElectionNamespace: env.podNamespace,
		healthBindAddress:       ":8081",
		metricsBindAddress:      ":8080",
		pprofBindAddress:        cmp.Or(env.pprofBindAddress, noAddress),
		logLevel:                logging.Info,
		logFormat:               logging.JSON,
		webhooks:                defaultWebhookOptions(b, env),
	}
	if b.Garden {
		cfg.gardenKubeconfig = env.gardenKubeconfig
		return cfg
	}
	cfg.classes, cfg.role, cfg.maxConcurrentReconciles = []string{"shoot"}, rolePrimary, 5
	cfg.observations, cfg.observationInterval = b.Observations, defaultObservationInterval
	cfg.heartbeatNamespace, cfg.heartbeatRenewSeconds = env.podNamespace, 30
	return cfg
}

// sections returns all flags in the order of --help. Parsing a flag stores its value in c.
func (c *config) sections(b Binary) []section {
	controller := section{title: "Controller", flags: []setting{c.typesFlag(b)}}
	cluster := section{title: "API servers and leader election", flags: slices.Concat(c.gardenKubeconfigFlags(), c.leaderElectionFlags())}
	if !b.Garden {
		controller.flags = append(controller.flags, c.controllerFlags(b)...)
		cluster.title = "API server, leader election and heartbeat"
		cluster.flags = slices.Concat(c.kubeconfigFlags(), c.leaderElectionFlags(), c.heartbeatFlags())
	}
	sections := []section{controller}
	if len(b.Observations) > 0 {
		sections = append(sections, section{title: "Secondary controller", flags: c.observationFlags(b)})
	}
	sections = append(sections, cluster)
	if len(b.Webhooks)+len(b.ShootWebhooks) > 0 {
		sections = append(sections, section{title: "Admission webhooks", flags: c.webhookFlags(b)})
	}
	if len(b.Flags.Flags) > 0 {
		sections = append(sections, b.Flags.section())
	}
	return append(sections,
		section{title: "Health, metrics and logs", flags: c.observabilityFlags()},
		section{title: "Commands", flags: c.commandFlags(b)},
	)
}

func (c *config) typesFlag(b Binary) setting {
	return setting{
		name: "types", value: "TYPE,...", required: true,
		usage:   "Provider types to serve.",
		allowed: strings.Join(b.Types, ", "),
		parse:   listOf(&c.types, "is not compiled in", b.Types),
	}
}

func (c *config) controllerFlags(b Binary) []setting {
	return []setting{
		{
			name: "extension-classes", value: "CLASS,...", defaults: strings.Join(c.classes, ","),
			usage:   "Extension classes to serve.",
			allowed: strings.Join(extensionClasses(), ", "),
			parse:   listOf(&c.classes, "is not an extension class", extensionClasses()),
		},
		{
			name: "role", value: "ROLE", defaults: c.role,
			usage:   roleUsage(b),
			allowed: strings.Join(b.roles(), ", "),
			parse:   oneOf(&c.role, b.roles()),
		},
		{
			name: "max-concurrent-reconciles", value: "N", defaults: fmt.Sprint(c.maxConcurrentReconciles),
			usage:   "How many objects a controller works on at the same time.",
			allowed: "1 and more",
			parse:   atLeast(&c.maxConcurrentReconciles, 1),
		},
		{
			name: "ignore-operation-annotation", defaults: "false",
			usage: "Act on every spec change at once. For development: it breaks the promise of maintenance windows.",
			parse: boolean(&c.ignoreOperationAnnotation),
		},
		{
			name: "gardener-version", value: "VERSION",
			usage:   "Version of the gardenlet that deploys the extension.",
			allowed: "a semantic version",
			parse:   semanticVersion(&c.gardenerVersion),
		},
	}
}

// roles are the allowed values of --role.
func (b Binary) roles() []string {
	if len(b.Observations) == 0 {
		return []string{rolePrimary}
	}
	return []string{rolePrimary, roleSecondary}
}

// unobserved returns those of the types that the binary cannot observe.
func (b Binary) unobserved(types []string) []string {
	if b.ObservedTypes == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(types), func(one string) bool { return slices.Contains(b.ObservedTypes, one) })
}

func roleUsage(b Binary) string {
	usage := "A primary fulfils objects and is the only writer of their status."
	if len(b.Observations) == 0 {
		return usage
	}
	return usage + " A secondary observes them, and writes conditions of its own only."
}

func (c *config) observationFlags(b Binary) []setting {
	return []setting{
		{
			name: "observations", value: "NAME,...", defaults: "all",
			usage:   "What a secondary observes. Conditions of others are removed.",
			allowed: strings.Join(b.Observations, ", "),
			parse:   listOf(&c.observations, "does not exist", b.Observations),
		},
		{
			name: "observation-interval", value: "DURATION", defaults: c.observationInterval.String(),
			usage:   "Time between two observations of an object, and between two waves of reads of a cloud's account.",
			allowed: "a duration of at least " + minObservationInterval.String(),
			parse:   durationOfAtLeast(&c.observationInterval, minObservationInterval),
		},
		{
			name: "cleanup-configmap", value: "NAME", defaults: "none",
			usage: "ConfigMap in the namespace of the leader election that marks the installation. When it is deleted, a secondary removes its conditions from all " +
				"objects, and then its finalizer from the ConfigMap.",
			allowed: "the name of an object",
			parse:   objectName(&c.cleanupConfigMap),
		},
	}
}

func (c *config) kubeconfigFlags() []setting {
	return []setting{{
		name: "kubeconfig", value: "FILE", defaults: "$KUBECONFIG, then the pod's service account",
		usage: "API server to work for.",
		parse: text(&c.kubeconfig),
	}}
}

func (c *config) leaderElectionFlags() []setting {
	return []setting{
		{
			name: "leader-election", defaults: "true",
			usage: "Elect one replica that works; the others stand by.",
			parse: boolean(&c.leaderElection),
		},
		{
			name: "leader-election-id", value: "NAME", defaults: c.leaderElectionID,
			usage:   "Name of the Lease that replicas compete for.",
			allowed: "the name of an object",
			parse:   objectName(&c.leaderElectionID),
		},
		{
			name: "leader-election-namespace", value: "NAMESPACE", defaults: "the pod's namespace",
			usage:   "Namespace of that Lease.",
			allowed: "the name of a namespace",
			parse:   namespaceName(&c.leaderElectionNamespace),
		},
	}
}

func (c *config) heartbeatFlags() []setting {
	return []setting{
		{
			name: "heartbeat-namespace", value: "NAMESPACE", defaults: "the pod's namespace; outside a pod, no heartbeat",
			usage: "Namespace of the Lease " + heartbeatLease +
				", by which gardenlet knows that the extension is alive.",
			allowed: "the name of a namespace",
			parse:   namespaceName(&c.heartbeatNamespace),
		},
		{
			name: "heartbeat-renew-interval-seconds", value: "SECONDS", defaults: fmt.Sprint(c.heartbeatRenewSeconds),
			usage:   "How often the leader renews the heartbeat.",
			allowed: "1 and more",
			parse:   atLeast(&c.heartbeatRenewSeconds, 1),
		},
	}
}

func (c *config) observabilityFlags() []setting {
	const addresses = "host:port, :port, or 0 for none"
	return []setting{
		{
			name: "health-bind-address", value: "ADDRESS", defaults: c.healthBindAddress,
			usage:   "Where /healthz and /readyz are served.",
			allowed: addresses,
			parse:   address(&c.healthBindAddress),
		},
		{
			name: "metrics-bind-address", value: "ADDRESS", defaults: c.metricsBindAddress,
			usage:   "Where Prometheus metrics are served, under /metrics.",
			allowed: addresses,
			parse:   address(&c.metricsBindAddress),
		},
		{
			name: "pprof-bind-address", value: "ADDRESS", defaults: c.pprofBindAddress,
			usage: "Where pages for debugging are served: profiles for go tool pprof under /debug/pprof, and those of the binary. They are not protected: use an " +
				"address of loopback. The environment variable " + pprofVariable + " says the same.",
			allowed: addresses,
			parse:   address(&c.pprofBindAddress),
		},
		{
			name: "log-level", value: "LEVEL", defaults: c.logLevel,
			usage:   "How much is logged.",
			allowed: strings.Join(logging.Levels(), ", "),
			parse:   oneOf(&c.logLevel, logging.Levels()),
		},
		{
			name: "log-format", value: "FORMAT", defaults: c.logFormat,
			usage:   "Format of log lines.",
			allowed: strings.Join(logging.Formats(), ", "),
			parse:   oneOf(&c.logFormat, logging.Formats()),
		},
	}
}

// check validates combinations of flags.
func (c *config) check(b Binary) []error {
	var errs []error
	if unobserved := b.unobserved(c.types); c.role == roleSecondary && len(unobserved) > 0 {
		errs = append(errs, fmt.Errorf("--types: %s: a secondary cannot observe it; allowed with --role=%s: %s",
			strings.Join(unobserved, ", "), roleSecondary, strings.Join(b.ObservedTypes, ", ")))
	}
	if c.leaderElection && c.leaderElectionNamespace == "" {
		errs = append(errs, errors.New("--leader-election-namespace: required outside a pod; or --leader-election=false"))
	}
	if c.cleanupConfigMap != "" && c.leaderElectionNamespace == "" {
		errs = append(errs, errors.New("--cleanup-configmap: needs --leader-election-namespace outside a pod, where the ConfigMap is"))
	}
	if c.role == roleSecondary {
		return errs // it serves no webhooks
	}
	return append(errs, c.webhooks.check()...)
}

// extensionClasses are the classes of Gardener's extension objects (gardener/docs/extensions/registration.md).
func extensionClasses() []string { return []string{"shoot", "seed", "garden"} }
