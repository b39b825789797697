package openstack

import (
	"encoding/json"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func withNodeLocalDNS(cache gardencorev1beta1.NodeLocalDNS) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &cache}
	}
}

func withLastOperation(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version = "1.36.3"
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
	}
}

func withSeeds(desired, actual string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName, s.Status.SeedName = new(desired), new(actual) }
}

func TestShootDefaults_NodeLocalDNS(t *testing.T) {
	on := gardencorev1beta1.NodeLocalDNS{Enabled: true}
	for sentence, test := range map[string]struct {
		shoot   gardencorev1beta1.NodeLocalDNS
		changes []func(*gardencorev1beta1.Shoot)
		isNew   bool
		filled  bool
	}{
		"a new shoot with a cache":                {shoot: on, isNew: true, filled: true},
		"a new shoot whose cache is off":          {isNew: true},
		"a new shoot that wants TCP":              {shoot: gardencorev1beta1.NodeLocalDNS{Enabled: true, ForceTCPToUpstreamDNS: new(true)}, isNew: true},
		"a new shoot that wants UDP":              {shoot: gardencorev1beta1.NodeLocalDNS{Enabled: true, ForceTCPToUpstreamDNS: new(false)}, isNew: true},
		"a new shoot that wants TCP elsewhere":    {shoot: gardencorev1beta1.NodeLocalDNS{Enabled: true, ForceTCPToClusterDNS: new(true)}, isNew: true, filled: true},
		"a new shoot without a cache":             {isNew: true, changes: []func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) { s.Spec.SystemComponents.NodeLocalDNS = nil }}},
		"a new shoot without any such components": {isNew: true, changes: []func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) { s.Spec.SystemComponents = nil }}},
		"a new shoot without workers":             {shoot: on, isNew: true, changes: []func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }}},
		"a new shoot of another cloud":            {shoot: on, isNew: true, changes: []func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Type = "aws" }}},

		"a shoot that stays as it is": {shoot: on},
		"a shoot of which only an annotation changes": {shoot: on, changes: []func(*gardencorev1beta1.Shoot){
			func(s *gardencorev1beta1.Shoot) { s.Annotations = map[string]string{"a": "b"} },
		}},
		"a shoot that changes":                       {shoot: on, filled: true, changes: []func(*gardencorev1beta1.Shoot){withLastOperation("Reconcile", "Processing")}},
		"a shoot that has got its seed":              {shoot: on, filled: true, changes: []func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }}},
		"a shoot that stays on its seed":             {shoot: on, filled: true, changes: []func(*gardencorev1beta1.Shoot){withSeeds("a", "a")}},
		"a shoot that is about to leave its seed":    {shoot: on, changes: []func(*gardencorev1beta1.Shoot){withSeeds("b", "a")}},
		"a shoot that leaves its seed":               {shoot: on, changes: []func(*gardencorev1beta1.Shoot){withLastOperation("Migrate", "Succeeded")}},
		"a shoot that arrives at its seed":           {shoot: on, changes: []func(*gardencorev1beta1.Shoot){withLastOperation("Restore", "Processing")}},
		"a shoot that has arrived and changes":       {shoot: on, filled: true, changes: []func(*gardencorev1beta1.Shoot){withLastOperation("Restore", "Succeeded")}},
		"a shoot that is being deleted, and changes": {shoot: on, changes: []func(*gardencorev1beta1.Shoot){withLastOperation("Delete", "Processing"), beingDeleted}},
	} {
		t.Run(sentence, func(t *testing.T) {
			shoot, old := validShoot(), validShoot()
			withNodeLocalDNS(test.shoot)(shoot)
			withNodeLocalDNS(test.shoot)(old)
			for _, change := range test.changes {
				change(shoot)
			}
			if test.isNew {
				old = nil
			}
			handler := findShootWebhook(t, nil, Options{NodeLocalDNSWithoutTCP: true}, "shootdefaults.openstack").Handler
			response := handler.Handle(t.Context(), shootRequest(encodedShoot(t, shoot), encodedShoot(t, old)))
			require.True(t, response.Allowed)
			if !test.filled {
				require.Empty(t, response.Patch)
				return
			}
			require.JSONEq(t, `[{"op":"add","path":"/spec/systemComponents/nodeLocalDNS/forceTCPToUpstreamDNS","value":false}]`, string(response.Patch))
		})
	}
}

func beingDeleted(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Unix(1795348800, 0)) }

func TestShootWebhooks(t *testing.T) {
	for name, options := range map[string]Options{"shoot.openstack": {}, "shootdefaults.openstack": {NodeLocalDNSWithoutTCP: true}} {
		webhook := findShootWebhook(t, newShootGarden(), options, name)
		require.Equal(t, name == "shootdefaults.openstack", webhook.Mutates)
		require.False(t, webhook.Runtime)
		require.Equal(t, map[string]string{"provider.extensions.gardener.cloud/openstack": "true"}, webhook.ObjectSelector.MatchLabels)
		rules, err := json.Marshal(webhook.Rules)
		require.NoError(t, err)
		require.JSONEq(t, `[{"operations":["CREATE","UPDATE"],"apiGroups":["core.gardener.cloud"],"apiVersions":["v1beta1"],"resources":["shoots"],"scope":"*"}]`, string(rules))
		require.NotContains(t, webhook.Rules[0].Operations, admissionregistrationv1.Delete)
	}
	for _, webhook := range Webhooks(shootsGarden(), Options{}) {
		require.NotEqual(t, "shootdefaults.openstack", webhook.Name, "what does nothing is not asked")
	}
}
