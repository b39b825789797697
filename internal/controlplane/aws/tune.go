package aws

import (
	"errors"
	"fmt"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/internal/controlplane"
	"github.com/trellis-garden/trellis/internal/controlplane/tuning"
)

// Tune implements controlplane.Driver.
func (d *Driver) Tune(request *controlplane.TuneRequest) (*tuning.Tuning, error) {
	if request.Scope == tuning.ControlPlane {
		return tuneControlPlane(request.Cluster.Shoot), nil
	}
	raw := request.Cluster.Shoot.Spec.Provider.InfrastructureConfig
	if raw == nil {
		return nil, errors.New("shoot.spec.provider.infrastructureConfig is missing: it says what nodes need")
	}
	config, err := awsv1alpha1.DecodeStoredInfrastructureConfig(raw)
	if err != nil {
		return nil, fmt.Errorf("decoding shoot.spec.provider.infrastructureConfig: %w", err)
	}
	tuned := &tuning.Tuning{Kubelet: tuneKubelet(), Sysctls: map[string]string{
		// Otherwise the kernel keeps entries of addresses that pods have had before (kubernetes issue 23395).
		"net.ipv4.neigh.default.gc_thresh1": "0",
	}}
	if *config.EnableMTUCustomizer {
		addMTUCustomizer(tuned)
	}
	if *config.EnableECRAccess {
		err = addImageCredentialProvider(tuned, request.Image)
	}
	return tuned, err
}

// tuneControlPlane also removes credentials that Deployments of former times have in their environment.
func tuneControlPlane(shoot *gardencorev1beta1.Shoot) *tuning.Tuning {
	apiServer, controllerManager := tuning.KubeAPIServerWithoutCloud(), tuning.KubeControllerManagerWithoutCloud()
	credentials := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	apiServer.DropEnv, controllerManager.DropEnv = credentials, credentials

	ranges := inputs{families: familiesOf(shoot), hasIPv6Nodes: hasIPv6Nodes(shoot)}
	controllerManager.SetFlags["--allocate-node-cidrs"] = "true"
	if ranges.givesPodRanges() { // two must not give ranges
		controllerManager.SetFlags["--allocate-node-cidrs"] = "false"
	}
	tuned := &tuning.Tuning{KubeAPIServer: apiServer, KubeControllerManager: controllerManager}
	if needsVolumeAttributesClassGate(shoot.Annotations, shoot.Spec.Kubernetes.Version) {
		gate := func() map[string]map[string]string {
			return map[string]map[string]string{"--feature-gates": {volumeAttributesClassGate: "true"}}
		}
		tuned.KubeAPIServer.SetEntries = gate()
		tuned.KubeAPIServer.SetEntries["--runtime-config"] = map[string]string{"storage.k8s.io/v1beta1": "true"}
		tuned.KubeControllerManager.SetEntries = gate()
		tuned.KubeScheduler.SetEntries, tuned.ClusterAutoscaler.SetEntries = gate(), gate()
	}
	return tuned
}

func tuneKubelet() tuning.Kubelet {
	return tuning.Kubelet{
		SetFlags: map[string]string{"--cloud-provider": "external"},
		// A kubelet registers its node by the host name. The node has to be called like the machine in AWS, by its private DNS name.
		StartBefore: []string{`/bin/sh -c 'hostnamectl set-hostname $(hostname -f)'`},
		// Volumes are attached by a controller in the seed. True is the default; nobody may choose otherwise.
		Config: map[string]any{"enableControllerAttachDetach": true},
	}
}
