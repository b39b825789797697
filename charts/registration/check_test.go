package registration_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts/registration"
)

// workerEntry is an entry with nothing wrong about it.
const workerEntry = `
- name: worker
  chart: worker-controller
  kind: Worker
  types: [openstack]
`

// observerEntry is a secondary beside it with nothing wrong about it.
const observerEntry = `
- name: worker-observer
  chart: worker-controller
  kind: Worker
  types: [openstack]
  role: secondary
`

// awsEntry is a primary for another type of the same binary.
const awsEntry = `
- name: worker-aws
  chart: worker-controller
  kind: Worker
  types: [aws]
`

func TestCheck_Valid(t *testing.T) {
	for sentence, entries := range map[string]string{
		"a primary":                                   workerEntry,
		"a secondary beside it":                       workerEntry + observerEntry,
		"a secondary on some seeds":                   observerEntry + "  seedSelector: {matchLabels: {stage: canary}}\n",
		"a secondary with some observations":          observerEntry + "  observations: [images]\n",
		"two secondaries for one kind and type":       observerEntry + strings.ReplaceAll(observerEntry, "-observer", "-watcher"),
		"a primary on every seed":                     workerEntry + "  policy: Always\n",
		"a primary on every seed with shoots":         workerEntry + "  policy: AlwaysExceptNoShoots\n",
		"a primary with two types":                    strings.Replace(workerEntry, "[openstack]", "[openstack, aws]", 1),
		"a name as long as a Service allows":          strings.Replace(workerEntry, "name: worker", "name: "+strings.Repeat("a", 44), 1),
		"one binary registered for each of its types": workerEntry + awsEntry,
		"a primary with a leader election of its own": workerEntry + "  leaderElectionID: my-own\n",
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := registration.Read([]byte("registrations:" + entries))
			assert.NoError(t, err)
		})
	}
}

// replaced says what stands where in an entry instead.
type replaced struct{ entries, old, with string }

func (r replaced) text(t *testing.T) string {
	t.Helper()
	if r.old == "" {
		return r.entries + r.with
	}
	require.Contains(t, r.entries, r.old)
	return strings.Replace(r.entries, r.old, r.with, 1)
}

func TestCheck_Invalid(t *testing.T) {
	second := strings.Replace(workerEntry, "name: worker", "name: worker-second", 1)
	for sentence, c := range map[string]struct {
		broken replaced
		want   string
	}{
		"no name": {
			replaced{workerEntry, "name: worker", "name: ''"},
			"registrations[0].name: is missing; gardener-extension-<name> becomes the name of a Service",
		},
		"a name one character too long": {
			replaced{workerEntry, "name: worker", "name: " + strings.Repeat("a", 45)},
			"registrations[0].name: \"" + strings.Repeat("a", 45) + "\" has 45 characters, at most 44 are possible, since " +
				"gardener-extension-<name> becomes the name of a Service; shorten it",
		},
		"a name with a dot": {
			replaced{workerEntry, "name: worker", "name: worker.openstack"},
			"registrations[0].name: \"worker.openstack\" is no DNS label, and gardener-extension-<name> becomes the name of a Service; " +
				"take lower-case letters, digits and '-'",
		},
		"no chart": {
			replaced{workerEntry, "chart: worker-controller", "chart: ''"},
			"registrations[0].chart: is missing; give the folder of a chart, such as worker-controller",
		},
		"a chart there is not": {
			replaced{workerEntry, "worker-controller", "wrecker-controller"},
			"registrations[0].chart: there is no chart \"wrecker-controller\"; take a folder of charts/ that has a Chart.yaml",
		},
		"no kind": {
			replaced{workerEntry, "kind: Worker", "kind: ''"}, "registrations[0].kind: is missing; worker-controller serves Worker",
		},
		"a kind that another chart serves": {
			replaced{workerEntry, "kind: Worker", "kind: Network"},
			"registrations[0].kind: worker-controller serves Worker, not Network; change the kind or the chart",
		},
		"a kind there is not": {
			replaced{workerEntry, "kind: Worker", "kind: Machine"},
			"registrations[0].kind: \"Machine\" is no kind that Gardener knows; take one of BackupBucket, BackupEntry, Bastion, " +
				"ContainerRuntime, ControlPlane, DNSRecord, Extension, Infrastructure, Network, OperatingSystemConfig, " +
				"SelfHostedShootExposure, Worker",
		},
		"no types": {
			replaced{workerEntry, "[openstack]", "[]"},
			"registrations[0].types: is missing; name at least one type, since the binary serves none that it is not given",
		},
		"a type twice": {
			replaced{workerEntry, "[openstack]", "[openstack, openstack]"}, "registrations[0].types[1]: openstack stands there twice; remove one",
		},
		"a type that no label can hold": {
			replaced{workerEntry, "[openstack]", "[Open Stack]"},
			"registrations[0].types[0]: \"Open Stack\" is no DNS label, and it becomes the value of labels; take lower-case letters, digits and '-'",
		},
		"a policy there is not": {
			replaced{workerEntry, "", "  policy: Sometimes\n"},
			"registrations[0].policy: \"Sometimes\" is not known; take one of OnDemand, Always, AlwaysExceptNoShoots",
		},
		"a level of pod security there is not": {
			replaced{workerEntry, "", "  podSecurity: strict\n"},
			"registrations[0].podSecurity: \"strict\" is not known; take one of restricted, baseline, privileged",
		},
		"a role there is not": {
			replaced{workerEntry, "", "  role: tertiary\n"}, "registrations[0].role: \"tertiary\" is not known; take one of primary, secondary",
		},
		"a primary that observes": {
			replaced{workerEntry, "", "  observations: [images]\n"},
			"registrations[0].observations: a primary observes nothing; remove them, or make the registration a secondary",
		},
		"a primary on some seeds": {
			replaced{workerEntry, "", "  seedSelector: {matchLabels: {stage: canary}}\n"},
			"registrations[0].seedSelector: Gardener allows none for a primary: a seed without the controller could serve no shoot; " +
				"remove it, or make the registration a secondary",
		},
		"a selector that selects nothing": {
			replaced{observerEntry, "", "  seedSelector: {matchExpressions: [{key: stage, operator: In}]}\n"},
			"registrations[0].seedSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'; " +
				"write it as a Kubernetes label selector",
		},
		"a leader election that no Lease can have": {
			replaced{workerEntry, "", "  leaderElectionID: My_Lease\n"},
			"registrations[0].leaderElectionID: \"My_Lease\" cannot be the name of a Lease; take lower-case letters, digits, '-' and '.'",
		},
		"a timeout": {
			replaced{workerEntry, "", "  reconcileTimeout: 5m\n"}, "registrations[0].reconcileTimeout: Gardener has it for kind Extension only; remove it",
		},
		"a lifecycle": {
			replaced{workerEntry, "", "  lifecycle: {reconcile: AfterWorker}\n"}, "registrations[0].lifecycle: Gardener has it for kind Extension only; remove it",
		},
		"enabled automatically": {
			replaced{workerEntry, "", "  autoEnable: [shoot]\n"}, "registrations[0].autoEnable: Gardener has it for kind Extension only; remove it",
		},
		"a compatibility": {
			replaced{workerEntry, "", "  clusterCompatibility: [seed]\n"},
			"registrations[0].clusterCompatibility: Gardener has it for kind Extension only; remove it",
		},
		"for shoots without workers": {
			replaced{workerEntry, "", "  workerlessSupported: true\n"},
			"registrations[0].workerlessSupported: Gardener has it for kind Extension only; remove it",
		},
		"endpoints for ever": {
			replaced{workerEntry, "", "  continuousEndpointUpdate: true\n"},
			"registrations[0].continuousEndpointUpdate: Gardener has it for kind SelfHostedShootExposure only; remove it",
		},
		"a second primary for a kind and type": {
			replaced{workerEntry, "", second},
			"registrations[1].types[0]: registrations[0] (worker) is the primary for Worker/openstack already, and there can be " +
				"one only; remove the type from one of them",
		},
		"two hearts in one namespace": {
			replaced{workerEntry + "  heartbeatNamespace: hearts\n" + observerEntry, "", "  heartbeatNamespace: hearts\n"},
			"registrations[1].heartbeatNamespace: \"hearts\" is that of registrations[0] (worker) already; " +
				"one of the two would vouch for the other; give each its own, or leave it out",
		},
		"a name twice": {
			replaced{workerEntry + observerEntry, "name: worker-observer", "name: worker"},
			"registrations[1].name: \"worker\" is that of registrations[0] (worker) already; rename one of them",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := registration.Read([]byte("registrations:" + c.broken.text(t)))
			assert.EqualError(t, err, c.want)
			var list registration.FieldErrors
			assert.ErrorAs(t, err, &list)
		})
	}
}
