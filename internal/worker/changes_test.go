package worker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// change is a change of a pool.
type change struct {
	mutate func(*plan)
	// rolls is true if the change identifies other machines: they are replaced, or updated in place if that is the pool's strategy.
	rolls bool
}

// changesOfAnyPool are changes that any pool may have.
func changesOfAnyPool() map[string]change {
	return map[string]change{
		"the name of the node agent's secret changes": {rolls: true, mutate: func(p *plan) { p.pool.NodeAgentSecretName = new("gardener-node-agent-cpu-0b1c2") }},
		"a security group is added":                   {rolls: true, mutate: func(p *plan) { p.securityGroups = append(p.securityGroups, "group-b") }},

		"the limits increase":                  {mutate: func(p *plan) { p.pool.Minimum, p.pool.Maximum = 4, 9 }},
		"maxSurge and maxUnavailable increase": {mutate: func(p *plan) { p.pool.MaxSurge, p.pool.MaxUnavailable = intstr.FromInt32(3), intstr.FromString("10%") }},
		"a node label changes":                 {mutate: func(p *plan) { p.pool.Labels["team"] = "team-b" }},
		"the node annotations are removed":     {mutate: func(p *plan) { p.pool.Annotations = nil }},
		"a taint is added": {mutate: func(p *plan) {
			p.pool.Taints = append(p.pool.Taints, corev1.Taint{Key: "new", Effect: corev1.TaintEffectNoExecute})
		}},
		"the health timeout increases": {mutate: func(p *plan) {
			p.pool.MachineControllerManagerSettings.MachineHealthTimeout = &metav1.Duration{Duration: 2 * time.Hour}
		}},
		"the machine settings are removed":    {mutate: func(p *plan) { p.pool.MachineControllerManagerSettings = nil }},
		"fewer failed machines are preserved": {mutate: func(p *plan) { p.pool.MachineControllerManagerSettings.AutoPreserveFailedMachineMax = new(int32(1)) }},
		"the autoscaler options change": {mutate: func(p *plan) {
			p.pool.ClusterAutoscaler = &extensionsv1alpha1.ClusterAutoscalerOptions{MaxNodeProvisionTime: &metav1.Duration{Duration: time.Hour}}
		}},
		"the autoscaler options are removed": {mutate: func(p *plan) { p.pool.ClusterAutoscaler = nil }},
		"the priority changes":               {mutate: func(p *plan) { p.pool.Priority = new(int32(7)) }},
		"the virtual capacity changes": {mutate: func(p *plan) {
			p.pool.NodeTemplate.VirtualCapacity["example.com/devices"] = resource.MustParse("6")
		}},
		"the pool's capacity changes":                  {mutate: func(p *plan) { p.pool.NodeTemplate.Capacity[corev1.ResourceMemory] = resource.MustParse("64Gi") }},
		"the driver's capacity changes":                {mutate: func(p *plan) { p.capacity = corev1.ResourceList{"gpu": resource.MustParse("2")} }},
		"the machine type is removed from the profile": {mutate: func(p *plan) { p.pool.NodeTemplate = nil }},
		"the capacity becomes unknown":                 {mutate: func(p *plan) { p.pool.NodeTemplate, p.capacity = nil, nil }},
		"a setting outside the hash changes":           {mutate: func(p *plan) { p.settings["other"] = "green" }},
		"the name of the credentials' secret changes":  {mutate: func(p *plan) { p.worker.Spec.SecretRef.Name = "core-cloudprovider" }},
		"the user data changes":                        {mutate: func(p *plan) { p.userData = "#!/bin/bash\nstart faster\n" }},
		// gardenlet writes another node agent's Secret for these.
		"the machine type changes":         {mutate: func(p *plan) { p.pool.MachineType = "narrow" }},
		"the root volume's size increases": {mutate: func(p *plan) { p.pool.Volume.Size = "80Gi" }},
	}
}

// changesThatDiffer have one effect on machines that are replaced, and another on those that are updated in place, for which gardenlet
// omits the values in the hash from the node agent's Secret.
func changesThatDiffer() map[string]func(*plan) {
	rotated := func(p *plan, rotation gardencorev1beta1.ShootCredentialsRotation) {
		p.shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &rotation}
	}
	began := metav1.NewTime(time.Date(2026, time.March, 1, 12, 30, 0, 0, time.UTC))
	return map[string]func(*plan){
		"Kubernetes' minor version changes":   func(p *plan) { p.pool.KubernetesVersion = new("1.34.0") },
		"the image's version changes":         func(p *plan) { p.pool.MachineImage.Version = "1877.4.0" },
		"the kubelet's reservation increases": func(p *plan) { p.pool.KubeletConfig = kubeReserved("200m") },
		"certificate authorities are rotated": func(p *plan) {
			rotated(p, gardencorev1beta1.ShootCredentialsRotation{CertificateAuthorities: &gardencorev1beta1.CARotation{LastInitiationTime: &began}})
		},
		"the service account key is rotated": func(p *plan) {
			rotated(p, gardencorev1beta1.ShootCredentialsRotation{ServiceAccountKey: &gardencorev1beta1.ServiceAccountKeyRotation{LastInitiationTime: &began}})
		},
	}
}

// changesOf are the changes for a pool with a strategy. The driver decides what its hash contains: the example's group and settings replace
// machines, but change nothing for pools that are updated in place.
func changesOf(strategy *gardencorev1beta1.MachineUpdateStrategy) map[string]change {
	changes := changesOfAnyPool()
	for sentence, mutate := range changesThatDiffer() {
		changes[sentence] = change{mutate: mutate, rolls: strategy != nil}
	}
	changes["Kubernetes' patch version changes"] = change{mutate: func(p *plan) { p.pool.KubernetesVersion = new("1.33.5") }}
	changes["the group changes"] = change{rolls: strategy == nil, mutate: func(p *plan) { p.group = "group-2" }}
	changes["a setting in the hash changes"] = change{rolls: strategy == nil, mutate: func(p *plan) { p.settings["rolling"] = "white" }}
	return changes
}

// identity is the part of a template whose change replaces machines.
func identity(d deployment) string {
	template := d.object.Spec.Template
	return fmt.Sprint(d.object.Name, template.Labels, template.Annotations, template.Spec.Class.APIGroup, template.Spec.Class.Name)
}

func TestDeploymentsOf_MachineIdentity(t *testing.T) {
	for sentence, tc := range map[string]struct {
		strategy *gardencorev1beta1.MachineUpdateStrategy
		golden   string
	}{
		"rolling update":         {golden: "replaced"},
		"auto in-place update":   {golden: "updated-in-place", strategy: new(gardencorev1beta1.AutoInPlaceUpdate)},
		"manual in-place update": {golden: "updated-in-place", strategy: new(gardencorev1beta1.ManualInPlaceUpdate)},
	} {
		t.Run(sentence, func(t *testing.T) {
			planned := func() *plan {
				p := newPlan()
				p.pool.UpdateStrategy = tc.strategy
				return p
			}
			before := planned().deployments(t)
			var report strings.Builder
			changes := changesOf(tc.strategy)
			for _, sentence := range slices.Sorted(maps.Keys(changes)) {
				changed := planned()
				changes[sentence].mutate(changed)
				after := changed.deployments(t)
				require.Len(t, after, len(before))
				for i := range after {
					assert.Equal(t, changes[sentence].rolls, identity(before[i]) != identity(after[i]), sentence)
				}
				report.WriteString(sentence + "\n" + differences(t, before, after))
			}
			checkGolden(t, "changes-"+tc.golden+".txt", report.String())
		})
	}
}

// differences names every field of the objects with another value.
func differences(t *testing.T, before, after []deployment) string {
	t.Helper()
	var report strings.Builder
	old, current := map[string]string{}, map[string]string{}
	for i := range before {
		flatten(old, fmt.Sprintf("z%d", i+1), decodedJSON(t, before[i]))
		flatten(current, fmt.Sprintf("z%d", i+1), decodedJSON(t, after[i]))
	}
	all := maps.Clone(old)
	maps.Copy(all, current)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if old[path] != current[path] {
			fmt.Fprintf(&report, "    %s: %s -> %s\n", path, orNothing(old[path]), orNothing(current[path]))
		}
	}
	if report.Len() == 0 {
		return "    nothing\n"
	}
	return report.String()
}

// decodedJSON is a deployment as decoded JSON.
func decodedJSON(t *testing.T, d deployment) any {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"status": statusDeployments([]deployment{d})[0], "class": d.class, "secret": d.secret, "deployment": d.object,
	})
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	return value
}

func flatten(into map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			flatten(into, path+"."+key, inner)
		}
	case []any:
		for i, inner := range value {
			flatten(into, fmt.Sprintf("%s[%d]", path, i), inner)
		}
	default:
		into[path] = fmt.Sprintf("%#v", value)
	}
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

func kubeReserved(cpu string) *gardencorev1beta1.KubeletConfig {
	amount := resource.MustParse(cpu)
	return &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{CPU: &amount}}
}
