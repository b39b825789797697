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
- name: worker-openstack
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
  extensionName: worker-observer
  leaderElectionID: worker-observer-leader-election
  heartbeatNamespace: extension-worker-observer
`

func TestCheck_Valid(t *testing.T) {
	for sentence, entries := range map[string]string{
		"a primary":                                   workerEntry,
		"a secondary beside it":                       workerEntry + observerEntry,
		"a secondary on some seeds":                   observerEntry + "  seedSelector: {matchLabels: {stage: canary}}\n",
		"two secondaries for one kind and type":       observerEntry + strings.ReplaceAll(observerEntry, "-observer", "-watcher"),
		"a primary on every seed":                     workerEntry + "  policy: Always\n",
		"a primary on every seed with shoots":         workerEntry + "  policy: AlwaysExceptNoShoots\n",
		"a primary with two types":                    strings.Replace(workerEntry, "[openstack]", "[openstack, aws]", 1),
		"a name as long as Gardener allows":           strings.Replace(workerEntry, "worker-openstack", strings.Repeat("a", 47), 1),
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
	second := strings.ReplaceAll(workerEntry, "worker-openstack", "worker-second")
	for sentence, c := range map[string]struct {
		broken replaced
		want   string
	}{
		"no name": {
			replaced{workerEntry, "name: worker-openstack", "name: ''"},
			"registrations[0].name: is missing; extension-<name>-<5 characters> becomes a namespace",
		},
		"a name one character too long": {
			replaced{workerEntry, "worker-openstack", strings.Repeat("a", 48)},
			"registrations[0].name: \"" + strings.Repeat("a", 48) + "\" has 48 characters, at most 47 are possible, since " +
				"extension-<name>-<5 characters> becomes a namespace; shorten it",
		},
		"a name with a dot": {
			replaced{workerEntry, "worker-openstack", "worker.openstack"},
			"registrations[0].name: \"worker.openstack\" is no DNS label, and extension-<name>-<5 characters> becomes a namespace; " +
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
		"a primary that goes by another name": {
			replaced{workerEntry, "", "  extensionName: workers\n"},
			"registrations[0].extensionName: a primary goes by the name of its binary, which its webhooks and its Service have; remove the field",
		},
		"a secondary without a name": {
			replaced{observerEntry, "extensionName: worker-observer", "extensionName: ''"},
			"registrations[0].extensionName: is missing; a secondary must not share the primary's; give one of its own",
		},
		"a secondary without a leader election": {
			replaced{observerEntry, "leaderElectionID: worker-observer-leader-election", "leaderElectionID: ''"},
			"registrations[0].leaderElectionID: is missing; a secondary must not share the primary's; give one of its own",
		},
		"a secondary without a namespace for its heartbeat": {
			replaced{observerEntry, "heartbeatNamespace: extension-worker-observer", "heartbeatNamespace: ''"},
			"registrations[0].heartbeatNamespace: is missing; a secondary must not share the primary's; give one of its own",
		},
		"an extension name too long for a Service": {
			replaced{observerEntry, "extensionName: worker-observer", "extensionName: " + strings.Repeat("a", 45)},
			"registrations[0].extensionName: \"" + strings.Repeat("a", 45) + "\" has 45 characters, at most 44 are possible, since " +
				"gardener-extension-<extensionName> becomes the name of a Service; shorten it",
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
			replaced{workerEntry, "", second + "  leaderElectionID: second\n"},
			"registrations[1].types[0]: registrations[0] (worker-openstack) is the primary for Worker/openstack already, and there can be " +
				"one only; remove the type from one of them\n" +
				"registrations[1].extensionName: \"worker-controller\" is that of registrations[0] (worker-openstack) already; " +
				"webhooks and roles of the two would overwrite each other; list all types of the binary in one registration",
		},
		"one binary registered for each of its types": {
			replaced{workerEntry, "", strings.Replace(second, "[openstack]", "[aws]", 1)},
			"registrations[1].extensionName: \"worker-controller\" is that of registrations[0] (worker-openstack) already; webhooks and roles " +
				"of the two would overwrite each other; list all types of the binary in one registration\n" +
				"registrations[1].leaderElectionID: \"worker-controller-leader-election\" is that of registrations[0] (worker-openstack) already; " +
				"only one of the two would ever lead; give each its own",
		},
		"a secondary with the primary's leader election": {
			replaced{workerEntry + observerEntry, "worker-observer-leader-election", "worker-controller-leader-election"},
			"registrations[1].leaderElectionID: \"worker-controller-leader-election\" is that of registrations[0] (worker-openstack) already; " +
				"only one of the two would ever lead; give each its own",
		},
		"a secondary with the primary's name": {
			replaced{workerEntry + observerEntry, "extensionName: worker-observer", "extensionName: worker-controller"},
			"registrations[1].extensionName: \"worker-controller\" is that of registrations[0] (worker-openstack) already; webhooks and roles " +
				"of the two would overwrite each other; list all types of the binary in one registration",
		},
		"two hearts in one namespace": {
			replaced{workerEntry + "  heartbeatNamespace: extension-worker-observer\n" + observerEntry, "", ""},
			"registrations[1].heartbeatNamespace: \"extension-worker-observer\" is that of registrations[0] (worker-openstack) already; " +
				"one of the two would vouch for the other; give each its own, or leave it out",
		},
		"a name twice": {
			replaced{workerEntry + observerEntry, "name: worker-observer", "name: worker-openstack"},
			"registrations[1].name: \"worker-openstack\" is that of registrations[0] (worker-openstack) already; rename one of them",
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
