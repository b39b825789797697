package manager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func testBinary() Binary {
	return Binary{
		Name:        "infrastructure-controller",
		Description: "Fulfils Gardener's Infrastructure objects.",
		Types:       []string{"aws", "openstack"},
	}
}

// observingBinary can be a secondary controller.
func observingBinary() Binary {
	b := testBinary()
	b.Observations = []string{"drift", "quota"}
	return b
}

// inPod is the environment of a process in a pod.
func inPod() environment { return environment{podNamespace: "extension-infrastructure"} }

func TestParseFlags_Invalid(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"types are required": {
			args: nil,
			want: "--types: required; allowed: aws, openstack",
		},
		"types may not be empty": {
			args: []string{"--types="},
			want: `--types: "" has an empty element; allowed: aws, openstack`,
		},
		"a type must be compiled in": {
			args: []string{"--types=openstack,azure"},
			want: `--types: "openstack,azure" has "azure", which is not compiled in; allowed: aws, openstack`,
		},
		"a trailing comma is no type": {
			args: []string{"--types=openstack,"},
			want: `--types: "openstack," has an empty element; allowed: aws, openstack`,
		},
		"a class must be one of Gardener's": {
			args: []string{"--types=aws", "--extension-classes=shoots"},
			want: `--extension-classes: "shoots" has "shoots", which is not an extension class; allowed: shoot, seed, garden`,
		},
		"a binary without observations is a primary": {
			args: []string{"--types=aws", "--role=secondary"},
			want: `--role: "secondary" is unknown; allowed: primary`,
		},
		"a role must be known": {
			args: []string{"--types=aws", "--role=leader"},
			want: `--role: "leader" is unknown; allowed: primary`,
		},
		"nothing reconciles with zero workers": {
			args: []string{"--types=aws", "--max-concurrent-reconciles=0"},
			want: `--max-concurrent-reconciles: "0" is too small; allowed: 1 and more`,
		},
		"a negative number after a space is a value, not a flag": {
			args: []string{"--types=aws", "--max-concurrent-reconciles", "-1"},
			want: `--max-concurrent-reconciles: "-1" is too small; allowed: 1 and more`,
		},
		"not a number": {
			args: []string{"--types=aws", "--heartbeat-renew-interval-seconds=30s"},
			want: `--heartbeat-renew-interval-seconds: "30s" must be a number; allowed: 1 and more`,
		},
		"a switch takes true or false": {
			args: []string{"--types=aws", "--leader-election=maybe"},
			want: `--leader-election: "maybe" must be true or false`,
		},
		"an address has a port": {
			args: []string{"--types=aws", "--health-bind-address=localhost"},
			want: `--health-bind-address: "localhost" must be an address; allowed: host:port, :port, or 0 for none`,
		},
		"a port fits into 16 bits": {
			args: []string{"--types=aws", "--metrics-bind-address=:80800"},
			want: `--metrics-bind-address: ":80800" has "80800" for a port; allowed: host:port, :port, or 0 for none`,
		},
		"a log level must be known": {
			args: []string{"--types=aws", "--log-level=trace"},
			want: `--log-level: "trace" is unknown; allowed: debug, info, error`,
		},
		"a log format must be known": {
			args: []string{"--types=aws", "--log-format=xml"},
			want: `--log-format: "xml" is unknown; allowed: json, text`,
		},
		"a namespace has a name that Kubernetes takes": {
			args: []string{"--types=aws", "--heartbeat-namespace=Extension_One"},
			want: `--heartbeat-namespace: "Extension_One" must be the name of a namespace; allowed: the name of a namespace`,
		},
		"a leader election ID has a name that Kubernetes takes": {
			args: []string{"--types=aws", "--leader-election-id=a/b"},
			want: `--leader-election-id: "a/b" must be the name of an object; allowed: the name of an object`,
		},
		"a version is semantic": {
			args: []string{"--types=aws", "--gardener-version=latest"},
			want: `--gardener-version: "latest" must be a semantic version; allowed: a semantic version`,
		},
		"an unknown flag is named": {
			args: []string{"--types=aws", "--typos=x"},
			want: "--typos: no such flag",
		},
		"an unknown short flag is named": {
			args: []string{"--types=aws", "-v"},
			want: "-v: no such flag",
		},
		"an argument without a flag is named": {
			args: []string{"--types=aws", "openstack"},
			want: `"openstack": arguments without a flag are not allowed`,
		},
		"a flag without its value is named": {
			args: []string{"--types=aws", "--log-level"},
			want: "flag needs an argument: --log-level",
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			_, err := parseFlags(testBinary(), test.args, inPod())
			require.Error(t, err)
			assert.Equal(t, "wrong command line:\n  "+test.want, err.Error())
		})
	}
}

func TestParseFlags_AllProblems(t *testing.T) {
	_, err := parseFlags(testBinary(),
		[]string{"--log-level=loud", "--nonsense", "value", "--log-format=xml"}, environment{})

	require.Error(t, err)
	assert.Equal(t, `wrong command line:
  --nonsense: no such flag
  --log-level: "loud" is unknown; allowed: debug, info, error
  --log-format: "xml" is unknown; allowed: json, text
  --types: required; allowed: aws, openstack
  --leader-election-namespace: required outside a pod; or --leader-election=false`, err.Error())
}

func TestParseFlags_Valid(t *testing.T) {
	tests := map[string]struct {
		args   []string
		around environment
		check  func(t *testing.T, c config)
	}{
		"types alone are enough in a pod": {
			args:   []string{"--types=openstack"},
			around: inPod(),
			check: func(t *testing.T, c config) {
				assert.Equal(t, []string{"openstack"}, c.types)
				assert.Equal(t, []string{"shoot"}, c.classes)
				assert.Equal(t, "infrastructure-controller-leader-election", c.leaderElectionID)
				assert.Equal(t, "extension-infrastructure", c.leaderElectionNamespace)
				assert.Equal(t, "extension-infrastructure", c.heartbeatNamespace)
				assert.True(t, c.leaderElection)
			},
		},
		"several types, repeated and with spaces, are a set": {
			args:   []string{"--types", "openstack, aws,openstack"},
			around: inPod(),
			check:  func(t *testing.T, c config) { assert.Equal(t, []string{"openstack", "aws"}, c.types) },
		},
		"no leader election needs no namespace outside a pod, and there is no heartbeat": {
			args: []string{"--types=aws", "--leader-election=false"},
			check: func(t *testing.T, c config) {
				assert.False(t, c.leaderElection)
				assert.Empty(t, c.heartbeatNamespace)
			},
		},
		"a switch needs no value": {
			args:   []string{"--types=aws", "--ignore-operation-annotation"},
			around: inPod(),
			check:  func(t *testing.T, c config) { assert.True(t, c.ignoreOperationAnnotation) },
		},
		"the flag wins over KUBECONFIG": {
			args:   []string{"--types=aws", "--kubeconfig=/from/flag"},
			around: environment{podNamespace: "x", kubeconfig: "/from/env"},
			check:  func(t *testing.T, c config) { assert.Equal(t, "/from/flag", c.kubeconfig) },
		},
		"KUBECONFIG counts when there is no flag": {
			args:   []string{"--types=aws"},
			around: environment{podNamespace: "x", kubeconfig: "/from/env"},
			check:  func(t *testing.T, c config) { assert.Equal(t, "/from/env", c.kubeconfig) },
		},
		"metrics can be switched off": {
			args:   []string{"--types=aws", "--metrics-bind-address=0"},
			around: inPod(),
			check:  func(t *testing.T, c config) { assert.Equal(t, "0", c.metricsBindAddress) },
		},
		"versions of released and unreleased gardenlets": {
			args:   []string{"--types=aws", "--gardener-version=v1.150.0-dev-1f2e3d4"},
			around: inPod(),
			check:  func(t *testing.T, c config) { assert.Equal(t, "v1.150.0-dev-1f2e3d4", c.gardenerVersion) },
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			cfg, err := parseFlags(testBinary(), test.args, test.around)
			require.NoError(t, err)
			test.check(t, cfg)
		})
	}
}

func TestParseFlags_InvalidSecondary(t *testing.T) {
	for sentence, test := range map[string]struct{ arg, want string }{
		"a role must be known":            {"--role=leader", `--role: "leader" is unknown; allowed: primary, secondary`},
		"an observation must be known":    {"--observations=drift,cost", `--observations: "drift,cost" has "cost", which does not exist; allowed: drift, quota`},
		"an interval must be a duration":  {"--observation-interval=10", `--observation-interval: "10" must be a duration, such as 10m; allowed: a duration of at least 10s`},
		"an interval must not be short":   {"--observation-interval=1s", `--observation-interval: "1s" is too short; allowed: a duration of at least 10s`},
		"a ConfigMap needs a proper name": {"--cleanup-configmap=A B", `--cleanup-configmap: "A B"`},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := parseFlags(observingBinary(), []string{"--types=aws", test.arg}, inPod())
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err := parseFlags(observingBinary(), []string{"--types=aws", "--cleanup-configmap=marker", "--leader-election=false"}, environment{})
	require.ErrorContains(t, err, "--cleanup-configmap: needs --leader-election-namespace")
}

func TestParseFlags_ObservedTypes(t *testing.T) {
	binary := observingBinary()
	binary.ObservedTypes = []string{"openstack"}
	_, err := parseFlags(binary, []string{"--role=secondary", "--types=openstack"}, inPod())
	require.NoError(t, err)
	_, err = parseFlags(binary, []string{"--role=primary", "--types=aws,openstack"}, inPod())
	require.NoError(t, err)
	_, err = parseFlags(binary, []string{"--role=secondary", "--types=aws,openstack"}, inPod())
	require.ErrorContains(t, err, "--types: aws: a secondary cannot observe it; allowed with --role=secondary: openstack")
}

func TestParseFlags_Secondary(t *testing.T) {
	cfg, err := parseFlags(observingBinary(), []string{"--types=aws", "--role=secondary"}, inPod())
	require.NoError(t, err)
	assert.Equal(t, "infrastructure-controller-secondary-leader-election", cfg.leaderElectionID, "it does not compete with the primary")
	assert.Equal(t, &SecondaryOptions{Observations: []string{"drift", "quota"}, Interval: 10 * time.Minute}, cfg.secondaryOptions())

	cfg, err = parseFlags(observingBinary(), []string{
		"--types=aws", "--role=secondary", "--observations=quota", "--observation-interval=1m", "--cleanup-configmap=marker", "--leader-election-id=one",
	}, inPod())
	require.NoError(t, err)
	assert.Equal(t, "one", cfg.leaderElectionID)
	assert.Equal(t, &SecondaryOptions{
		Observations: []string{"quota"}, Interval: time.Minute, Marker: client.ObjectKey{Namespace: "extension-infrastructure", Name: "marker"},
	}, cfg.secondaryOptions())
}
