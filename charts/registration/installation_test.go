package registration

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/charts"
)

// installed renders an entry as it is registered.
func installed(t *testing.T, e Entry) installation {
	t.Helper()
	archive, err := charts.Archive(e.Chart, "v0.1.0")
	require.NoError(t, err)
	values, err := json.Marshal(Values{"types": e.Types})
	require.NoError(t, err)
	i, err := manifestInput{entry: e, archive: archive, values: values}.render()
	require.NoError(t, err)
	return i
}

func workers() Entry {
	return Entry{Name: "worker", Chart: "worker-controller", Kind: "Worker", Types: []string{"openstack"}}.withDefaults()
}

func objectOf(i installation, kind string) *unstructured.Unstructured {
	for _, object := range i.objects {
		if object.GetKind() == kind {
			return object
		}
	}
	return nil
}

func TestCheckInstallations_Registration(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*installation)
		want   string
	}{
		"it is": {change: func(*installation) {}},
		"another type": {
			change: func(i *installation) { i.entry.Types = []string{"aws"} },
			want: "worker: chart worker-controller runs the binary with --types=openstack, and registered is \"aws\"; make the chart take it " +
				"from its values",
		},
		"another role": {
			change: func(i *installation) { i.entry.Role = RoleSecondary },
			want: "worker: chart worker-controller runs the binary with --role=primary, and registered is \"secondary\"; make the chart take it " +
				"from its values",
		},
		"another leader election": {
			change: func(i *installation) { i.entry.LeaderElectionID = "own" },
			want: "worker: chart worker-controller runs the binary with --leader-election-id=worker-leader-election, and registered is " +
				"\"own\"; make the chart take it from its values",
		},
		"a heart elsewhere": {
			change: func(i *installation) { i.entry.HeartbeatNamespace = "hearts" },
			want: "worker: chart worker-controller runs the binary with --heartbeat-namespace=extension-worker-abcde, and registered is " +
				"\"hearts\"; make the chart take it from its values",
		},
		"a Service of another name": {
			change: func(i *installation) { objectOf(*i, "Service").SetName("workers") },
			want: "worker: chart worker-controller has no Service gardener-extension-worker, under which the binary registers its " +
				"webhooks; name it so",
		},
		"no Deployment": {
			change: func(i *installation) { objectOf(*i, "Deployment").SetKind("DaemonSet") },
			want:   "worker: there are 0 Deployments; give chart worker-controller one",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := installed(t, workers())
			c.change(&i)
			err := checkInstallations([]installation{i})
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, c.want)
			}
		})
	}
}

// Registrations of one binary for different types may be installed on one seed: no object of the one is the other's.
func TestCheckInstallations_TwoOfOneBinary(t *testing.T) {
	for _, chart := range charts.Names() {
		t.Run(chart, func(t *testing.T) {
			one, other := installedAs(t, chart, "one"), installedAs(t, chart, "other")
			require.NoError(t, checkInstallations([]installation{one, other}))

			objectOf(other, "ClusterRole").SetName("extensions.gardener.cloud:trellis:one")
			assert.EqualError(t, checkInstallations([]installation{one, other}), "other: its chart and that of one both have ClusterRole "+
				"extensions.gardener.cloud:trellis:one; name it after the release")
		})
	}
}

func installedAs(t *testing.T, chart, name string) installation {
	t.Helper()
	types := []string{"openstack"}
	if chart == "network-controller" {
		types = []string{"calico"}
	}
	return installed(t, Entry{Name: name, Chart: chart, Kind: kindOfChart(chart), Types: types}.withDefaults())
}

func TestCheckInstallations_Admission(t *testing.T) {
	admission := Admission{Name: "admission", Types: []string{"calico"}}
	_, halves, err := admission.generate(Options{Version: "v0.1.0", ChartRepository: "registry.example.org/charts"})
	require.NoError(t, err)
	require.NoError(t, admission.check(halves))

	admission.Types = []string{"openstack"}
	assert.EqualError(t, admission.check(halves), "admission: chart admission-runtime runs the binary with --types=calico, and registered is \"openstack\"; "+
		"make the chart take it from its values")

	admission.Types = []string{"calico"}
	objectOf(installation{rendered: halves[0]}, "Service").SetName("admission")
	assert.EqualError(t, admission.check(halves), "admission: chart admission-runtime has no Service gardener-extension-admission, under which the binary "+
		"registers its webhooks; name it so")

	objectOf(installation{rendered: halves[0]}, "Deployment").SetKind("DaemonSet")
	assert.EqualError(t, admission.check(halves), "admission: there are 0 Deployments; give chart admission-runtime one")
}

// Controllers may run beside admission: their dashboards are in the same namespace.
func TestCheckInstallations_GardenNamespace(t *testing.T) {
	admission := Admission{Name: "admission", Types: []string{"calico"}}
	_, halves, err := admission.generate(Options{Version: "v0.1.0", ChartRepository: "registry.example.org/charts"})
	require.NoError(t, err)
	require.NoError(t, checkInstallations([]installation{installed(t, workers())}, halves...))

	objectOf(installation{rendered: halves[0]}, "ConfigMap").SetName("gardener-extension-worker-dashboard")
	assert.EqualError(t, checkInstallations([]installation{installed(t, workers())}, halves...), "admission: its chart and that of worker both "+
		"have ConfigMap garden/gardener-extension-worker-dashboard; name it after the release")
}
