package calico_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/controlplane/calico"
	"github.com/trellis-garden/trellis/internal/golden"
)

func TestShoot_Objects(t *testing.T) {
	routed := calico.Shoot{NetworkType: "calico", MutatingPolicies: "admissionregistration.k8s.io/v1"}
	golden.Open(t, "testdata").Check(t, "calico.yaml", golden.Manifest(t, routed.Objects()))
	assert.Len(t, routed.StaleNodeConditions(), 1)

	cilium := calico.Shoot{NetworkType: "cilium", MutatingPolicies: "admissionregistration.k8s.io/v1"}
	assert.Empty(t, cilium.Objects(), "it does not contradict the route controller")
	assert.Empty(t, cilium.StaleNodeConditions())

	old := calico.Shoot{NetworkType: "calico"}
	assert.Empty(t, old.Objects(), "the shoot has no such policies")
	assert.Len(t, old.StaleNodeConditions(), 1)
}
