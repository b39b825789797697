package worker

import (
	"maps"
	"slices"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// rotate sets the time at which the credentials of all nodes were rotated, days before now.
func (o *observed) rotate(days int, authorities, key bool) {
	at := new(metav1.NewTime(o.now.AddDate(0, 0, -days)))
	if o.shoot.Status.Credentials == nil {
		o.shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{}}
	}
	rotation := o.shoot.Status.Credentials.Rotation
	if authorities {
		rotation.CertificateAuthorities = &gardencorev1beta1.CARotation{LastInitiationTime: at}
	}
	if key {
		rotation.ServiceAccountKey = &gardencorev1beta1.ServiceAccountKeyRotation{LastInitiationTime: at}
	}
}

func (o *observed) setLocalDNS(enabled bool) {
	o.shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{NodeLocalDNS: &gardencorev1beta1.NodeLocalDNS{Enabled: enabled}}
}

func withProviderConfig(config string) func(*observed) {
	return func(o *observed) { o.pool().ProviderConfig = &runtime.RawExtension{Raw: []byte(config)} }
}

func inPlace(o *observed) { o.pool().UpdateStrategy = new(gardencorev1beta1.AutoInPlaceUpdate) }

// rollCase is a change of a reconciled shoot.
type rollCase struct {
	before func(*observed)
	change func(*observed)
	// because follows "The next reconciliation replaces the nodes of pool cpu, because ", or is empty if the nodes stay.
	because string
}

func rollCases() map[string]rollCase {
	return map[string]rollCase{
		"nothing": {change: func(*observed) {}},
		"the limits": {change: func(o *observed) {
			o.pool().Minimum, o.pool().Maximum, o.pool().Labels = 3, 9, map[string]string{"team": "a"}
		}},
		"another machine type":         {change: func(o *observed) { o.pool().Machine.Type = "large" }, because: "the machine type changes from small to large"},
		"another version of the image": {change: func(o *observed) { o.pool().Machine.Image.Version = new("2000.0.0") }, because: "the machine image changes from gardenlinux 1877.3.0 to gardenlinux 2000.0.0"},
		"another image":                {change: func(o *observed) { o.pool().Machine.Image.Name = "flatcar" }, because: "the machine image changes from gardenlinux 1877.3.0 to flatcar 1877.3.0"},
		"another patch version":        {change: func(o *observed) { o.shoot.Spec.Kubernetes.Version = "1.33.9" }},
		"another minor version":        {change: func(o *observed) { o.shoot.Spec.Kubernetes.Version = "1.34.0" }, because: "the Kubernetes minor version changes from 1.33 to 1.34"},
		"another minor version of others": {change: func(o *observed) {
			o.pool().Kubernetes = poolVersion("1.33.4")
			o.shoot.Spec.Kubernetes.Version = "1.34.0"
		}},
		"another minor version of the pool": {before: func(o *observed) { o.pool().Kubernetes = poolVersion("1.32.1") }, change: func(o *observed) { o.pool().Kubernetes = poolVersion("1.33.1") }, because: "the Kubernetes minor version changes from 1.32 to 1.33"},
		"a larger root volume":              {change: func(o *observed) { o.pool().Volume.VolumeSize = "80Gi" }, because: "the size of the root volume changes from 50Gi to 80Gi"},
		"another root volume": {
			change:  func(o *observed) { o.pool().Volume = &gardencorev1beta1.Volume{VolumeSize: "80Gi"} },
			because: "the size of the root volume changes from 50Gi to 80Gi and the type of the root volume is removed",
		},
		"the kubelet reserves": {change: func(o *observed) {
			o.shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{KubeReserved: &gardencorev1beta1.KubeletConfigReserved{CPU: new(resource.MustParse("80m"))}}
		}, because: "the kubelet configuration is added"},
		"the kubelet has other pods": {change: func(o *observed) {
			o.shoot.Spec.Kubernetes.Kubelet = &gardencorev1beta1.KubeletConfig{MaxPods: new(int32(99))}
		}},
		"first rotation of certificate authorities": {change: func(o *observed) { o.rotate(0, true, false) }, because: "the certificate authorities were rotated"},
		"first rotation of all credentials":         {change: func(o *observed) { o.rotate(0, true, true) }, because: "the certificate authorities were rotated and the service account key was rotated"},
		"old rotation":                              {before: func(o *observed) { o.rotate(90, true, true) }, change: func(*observed) {}},
		"second rotation":                           {before: func(o *observed) { o.rotate(90, true, true) }, change: func(o *observed) { o.rotate(0, true, false) }, because: "the certificate authorities were rotated"},
		"rotation with a rollout of the pool to come": {before: func(o *observed) { o.rotate(90, true, true) }, change: func(o *observed) {
			former := o.shoot.Status.Credentials.Rotation.CertificateAuthorities.LastInitiationTime
			o.rotate(0, true, false)
			o.shoot.Status.Credentials.Rotation.CertificateAuthorities.PendingWorkersRollouts = []gardencorev1beta1.PendingWorkersRollout{{Name: "cpu", LastInitiationTime: former}}
		}},
		"second rotation in the second of the last reconciliation": {before: func(o *observed) { o.rotate(90, true, true) }, change: func(o *observed) {
			o.rotate(0, true, false)
			o.shoot.Status.Credentials.Rotation.CertificateAuthorities.LastInitiationTime = new(o.object.Status.LastOperation.LastUpdateTime)
		}, because: "the certificate authorities were rotated"},
		"node-local DNS":                         {change: func(o *observed) { o.setLocalDNS(true) }, because: "the use of node-local DNS is added"},
		"without node-local DNS":                 {before: func(o *observed) { o.setLocalDNS(true) }, change: func(o *observed) { o.setLocalDNS(false) }, because: "the use of node-local DNS is removed"},
		"node-local DNS with a later Kubernetes": {before: func(o *observed) { o.shoot.Spec.Kubernetes.Version = "1.34.1" }, change: func(o *observed) { o.setLocalDNS(true) }},
		"another setting of the driver":          {before: withProviderConfig("color=red shape=round"), change: withProviderConfig("color=blue shape=round"), because: "color changes"},
		"a setting more, another less":           {before: withProviderConfig("color=red"), change: withProviderConfig("shape=round"), because: "color is removed and shape is added"},
		"several changes": {before: withProviderConfig("color=red"), change: func(o *observed) {
			withProviderConfig("color=blue")(o)
			o.pool().Machine.Type = "large"
			o.rotate(0, false, true)
		}, because: "the machine type changes from small to large, the service account key was rotated and color changes"},
		"the pool is removed":                     {change: func(o *observed) { o.shoot.Spec.Provider.Workers = nil }},
		"a pool without nodes":                    {change: func(o *observed) { o.pool().Machine.Type = "large"; o.scale(0) }},
		"a zone more":                             {change: func(o *observed) { o.pool().Zones = append(slices.Clone(o.pool().Zones), "north-3") }},
		"unknown name of the node agent's Secret": {change: func(o *observed) { o.setSecretName("gardener-node-agent-cpu-77ac3") }},
		"unknown name, rotated before":            {change: func(o *observed) { o.setSecretName("gardener-node-agent-cpu-77ac3"); o.rotate(1, true, true) }},
		"unknown name, rotated since":             {change: func(o *observed) { o.setSecretName("gardener-node-agent-cpu-77ac3"); o.rotate(0, true, false) }, because: "the certificate authorities were rotated"},
		"unknown name, another machine type":      {change: func(o *observed) { o.setSecretName("gardener-node-agent-cpu-77ac3"); o.pool().Machine.Type = "large" }, because: "the machine type changes from small to large"},
	}
}

func poolVersion(of string) *gardencorev1beta1.WorkerKubernetes {
	return &gardencorev1beta1.WorkerKubernetes{Version: &of}
}

func (o *observed) scale(replicas int32) {
	for _, d := range o.deployments {
		d.Spec.Replicas = replicas
	}
}

// setSecretName gives the pool a name that gardenlet has computed in another way, and the nodes the class of that name.
func (o *observed) setSecretName(name string) {
	p := &o.object.Spec.Pools[0]
	p.NodeAgentSecretName = &name
	names, err := classNames(observedNamespace, p, o.shoot, &Machines{})
	require.NoError(o.t, err)
	for zone := range names {
		o.deployments[zone].Spec.Template.Spec.Class.Name = names[zone]
	}
}

const maintenanceNote = ". It is made at the latest in the maintenance time window of the shoot, 220000+0100 to 230000+0100."

func TestObserve_RollPreview(t *testing.T) {
	cases := rollCases()
	for _, sentence := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[sentence]
		t.Run(sentence, func(t *testing.T) {
			o := newObserved(t)
			if tc.before != nil {
				o = newObserved(t, tc.before)
			}
			tc.change(o)
			finding := o.observe(ObservationRollPreview)
			assert.Equal(t, tc.because == "", finding.Healthy)
			want := "The next reconciliation replaces no nodes."
			if tc.because != "" {
				want = "The next reconciliation replaces the nodes of pool cpu, because " + tc.because + maintenanceNote
			}
			assert.Equal(t, want, finding.Message)
		})
	}
}

func TestObserve_RollPreview_InPlace(t *testing.T) {
	for sentence, tc := range map[string]rollCase{
		"nothing":                       {change: func(*observed) {}},
		"another version of the image":  {change: func(o *observed) { o.pool().Machine.Image.Version = new("2000.0.0") }, because: "because the machine image changes from gardenlinux 1877.3.0 to gardenlinux 2000.0.0"},
		"another minor version":         {change: func(o *observed) { o.shoot.Spec.Kubernetes.Version = "1.34.0" }, because: "because the Kubernetes minor version changes from 1.33 to 1.34"},
		"first rotation":                {change: func(o *observed) { o.rotate(1, true, false) }, because: "because the certificate authorities were rotated"},
		"another setting of the driver": {before: withProviderConfig("color=red"), change: withProviderConfig("color=blue")},
		"second rotation": {
			before: func(o *observed) { o.rotate(90, true, false) },
			change: func(o *observed) { o.rotate(0, true, false) }, because: "because the certificate authorities were rotated",
		},
		"second rotation and another version": {
			before:  func(o *observed) { o.rotate(90, true, true) },
			change:  func(o *observed) { o.rotate(0, true, false); o.shoot.Spec.Kubernetes.Version = "1.34.0" },
			because: "because the Kubernetes minor version changes from 1.33 to 1.34 and the certificate authorities were rotated",
		},
		"former rotation that is not in the nodes": {
			before: func(o *observed) { o.rotate(90, true, false) }, change: func(o *observed) { o.rotate(1, true, false) },
			because: "because of one of these inputs, whose former values are not known: the Kubernetes minor version, the machine image, rotated credentials or the kubelet configuration",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := newObserved(t, func(o *observed) {
				inPlace(o)
				if tc.before != nil {
					tc.before(o)
				}
			})
			tc.change(o)
			finding := o.observe(ObservationRollPreview)
			assert.Equal(t, tc.because == "", finding.Healthy)
			want := "The next reconciliation replaces no nodes."
			if tc.because != "" {
				want = "The next reconciliation updates the nodes of pool cpu in place, " + tc.because + maintenanceNote
			}
			assert.Equal(t, want, finding.Message)
		})
	}
}

// The Worker was changed after the last reconciliation, so that the inputs of its classes are not known any more.
func TestObserve_RollPreview_UnknownInputs(t *testing.T) {
	o := newObserved(t)
	o.deployments[1].Spec.Template.Spec.Class.Name = "another"
	finding := o.observe(ObservationRollPreview)
	assert.False(t, finding.Healthy)
	assert.Equal(t, "The next reconciliation replaces the nodes of pool cpu, because of one of these inputs, whose former values are not known: "+
		"the Kubernetes minor version, the machine type, the machine image, the root volume, rotated credentials, the kubelet configuration or the providerConfig"+
		maintenanceNote, finding.Message)
}

func TestPreview_NoMaintenance(t *testing.T) {
	o := newObserved(t)
	o.pool().Machine.Type, o.shoot.Spec.Maintenance = "large", nil
	assert.Equal(t, "The next reconciliation replaces the nodes of pool cpu, because the machine type changes from small to large.",
		o.observe(ObservationRollPreview).Message)
}
