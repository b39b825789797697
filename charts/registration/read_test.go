package registration_test

import (
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/charts"
	"github.com/trellis-garden/trellis/charts/registration"
)

func TestRead_TrellisCatalogue(t *testing.T) {
	catalogue, err := registration.Read(charts.Catalogue())
	require.NoError(t, err)

	var of, observing []string
	for _, e := range catalogue.Registrations {
		if e.Role == registration.RoleSecondary {
			observing = append(observing, e.Name)
		}
	}
	for _, e := range catalogue.Primaries().Registrations {
		of = append(of, e.Chart)
		assert.Equal(t, registration.RolePrimary, e.Role, e.Name)
	}
	assert.Equal(t, charts.Names(), of, "each chart is registered once as a primary, in the order in which a shoot meets them")
	assert.Equal(t, []string{"infrastructure-secondary", "controlplane-secondary", "network-secondary", "worker-secondary"}, observing)
	assert.Equal(t, &registration.Admission{Name: "admission", Types: []string{"openstack", "aws", "calico", "gardenet", "registrations"}}, catalogue.Admission)
	assert.Equal(t, &registration.Installer{Name: "controllerinstallation", Types: []string{"trellis"}}, catalogue.Installer)
}

func TestRead_Defaults(t *testing.T) {
	catalogue, err := registration.Read([]byte(`
registrations:
- name: cloud-workers
  chart: worker-controller
  kind: Worker
  types: [openstack]
`))
	require.NoError(t, err)
	want := registration.Entry{
		Name: "cloud-workers", Chart: "worker-controller", Kind: "Worker", Types: []string{"openstack"},
		Policy: gardencorev1beta1.ControllerDeploymentPolicyOnDemand, PodSecurity: "restricted", Role: registration.RolePrimary,
		LeaderElectionID: "cloud-workers-leader-election",
	}
	assert.Empty(t, cmp.Diff([]registration.Entry{want}, catalogue.Registrations))
}

func TestRead_Invalid(t *testing.T) {
	for sentence, c := range map[string]struct{ catalogue, want string }{
		"no YAML": {
			"registrations: [", "the catalogue is no YAML: yaml: line 1: did not find expected node content",
		},
		"a key that stands there twice": {
			"registrations: []\nregistrations: []",
			"the catalogue is no YAML: yaml: unmarshal errors:\n  line 2: key \"registrations\" already set in map",
		},
		"another key beside registrations": {
			"registration: []", "registration: is not a field; there are registrations, admission, installer",
		},
		"nothing": {"", "is empty; give registrations, admission, installer"},
		"an empty list": {
			"registrations: []", "registrations: is empty; name at least one registration",
		},
		"registrations that are no list": {
			"registrations: {name: x}", "registrations: a list is wanted, not a JSON object",
		},
		"an entry that is empty": {
			"registrations:\n-\n",
			"registrations[0]: is empty; give name, chart, kind, types, policy, seedSelector, podSecurity, role, observations, " +
				"leaderElectionID, heartbeatNamespace, reconcileTimeout, lifecycle, autoEnable, clusterCompatibility, " +
				"workerlessSupported, continuousEndpointUpdate",
		},
		"an entry that is a text": {
			"registrations: [worker]", "registrations[0]: a mapping is wanted, not a JSON string",
		},
		"a field that Gardener has no more": {
			"registrations:\n- {name: x, globallyEnabled: true}",
			"registrations[0].globallyEnabled: is not a field; there are name, chart, kind, types, policy, seedSelector, podSecurity, " +
				"role, observations, leaderElectionID, heartbeatNamespace, reconcileTimeout, lifecycle, autoEnable, " +
				"clusterCompatibility, workerlessSupported, continuousEndpointUpdate",
		},
		"a field inside of a field": {
			"registrations:\n- {name: x, seedSelector: {labels: {a: b}}}", "registrations[0].seedSelector.labels: is not a field; remove it",
		},
		"one type without a list": {
			"registrations:\n- {name: x, types: openstack}", "registrations[0].types: a list is wanted, not a JSON string",
		},
		"a name that is a number": {
			"registrations:\n- {name: 5}", "registrations[0].name: a text is wanted, not a JSON number",
		},
		"an admission that is a list": {
			"admission: [openstack]", "admission: a mapping is wanted, not a JSON array",
		},
		"a policy for admission": {
			"admission: {name: x, policy: Always}", "admission.policy: is not a field; there are name, types",
		},
		"an installer that is empty": {
			"installer:", "installer: is empty; give name, types, seedSelector",
		},
		"a flag that is a text": {
			"registrations:\n- {name: x, workerlessSupported: sometimes}",
			"registrations[0].workerlessSupported: true or false is wanted, not a JSON string",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := registration.Read([]byte(c.catalogue))
			assert.EqualError(t, err, c.want)
		})
	}
}
