package kindseed

import (
	"context"
	"fmt"
	"time"

	gardenerimages "github.com/gardener/gardener/imagevector"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/component/gardener/resourcemanager"
	componentshared "github.com/gardener/gardener/pkg/component/shared"
	"github.com/gardener/gardener/pkg/logger"
	"github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/trellis-garden/trellis/e2e/internal/garden"
	"github.com/trellis-garden/trellis/e2e/internal/seed"
)

// define creates the CustomResourceDefinitions of a seed before anything runs in it.
func (env *Env) define(ctx context.Context) error {
	objects := append(seed.PriorityClasses(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: v1beta1constants.GardenNamespace, Labels: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenNamespace},
		}},
		// From gardenlet's chart (charts/gardener/gardenlet in Gardener).
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: v1beta1constants.PriorityClassNameSeedSystemCritical}, Value: 999998950},
	)
	for _, object := range objects {
		if err := env.Client.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	return seed.Define(ctx, env.Client)
}

// deployResourceManager deploys it as gardenlet does for its seed (pkg/gardenlet/controller/seed/seed in Gardener).
func (env *Env) deployResourceManager(ctx context.Context) error {
	manager, err := secretsmanager.New(
		ctx, logr.Discard(), clock.RealClock{}, env.Client, v1beta1constants.SecretManagerIdentityGardenlet,
		secretsmanager.WithCASecretAutoRotation(), secretsmanager.WithNamespaces(v1beta1constants.GardenNamespace),
	)
	if err != nil {
		return fmt.Errorf("creating gardenlet's secrets manager: %w", err)
	}
	authority := &secrets.CertificateSecretConfig{
		Name: v1beta1constants.SecretNameCASeed, CommonName: "kubernetes", CertType: secrets.CACert, Validity: new(30 * 24 * time.Hour),
	}
	if _, err := manager.Generate(
		ctx, authority, secretsmanager.Rotate(secretsmanager.KeepOld), secretsmanager.IgnoreOldSecretsAfter(24*time.Hour),
	); err != nil {
		return fmt.Errorf("making the seed's CA: %w", err)
	}
	image, err := resourceManagerImage()
	if err != nil {
		return err
	}
	values := resourcemanager.Values{
		Image:                                image,
		HighAvailabilityConfigWebhookEnabled: true,
		LogLevel:                             logger.InfoLevel,
		LogFormat:                            logger.FormatJSON,
		PriorityClassName:                    v1beta1constants.PriorityClassNameSeedSystemCritical,
		SecretNameServerCA:                   v1beta1constants.SecretNameCASeed,
		PodKubeAPIServerLoadBalancingWebhook: resourcemanager.PodKubeAPIServerLoadBalancingWebhook{
			Enabled: true,
			Configs: []resourcemanager.PodKubeAPIServerLoadBalancingWebhookConfig{
				{NamespaceSelector: map[string]string{v1beta1constants.GardenRole: v1beta1constants.GardenRoleShoot}},
			},
		},
		VPAInPlaceUpdatesEnabled: true,
	}
	deployer, err := componentshared.NewRuntimeGardenerResourceManager(env.Client, v1beta1constants.GardenNamespace, manager, values)
	if err != nil {
		return fmt.Errorf("preparing gardener-resource-manager: %w", err)
	}
	// Its last objects need its own webhooks, which do not run yet: gardenlet retries then, and so does this.
	var last error
	if err := env.waitUntil(ctx, func(ctx context.Context) (bool, error) {
		last = deployer.Deploy(ctx)
		return last == nil, nil
	}); err != nil {
		return fmt.Errorf("deploying gardener-resource-manager: %w: %w", err, last)
	}
	if err := deployer.Wait(ctx); err != nil {
		return fmt.Errorf("waiting for gardener-resource-manager: %w", err)
	}
	return nil
}

func resourceManagerImage() (string, error) {
	image, err := gardenerimages.Containers().FindImage(gardenerimages.ContainerImageNameGardenerResourceManager)
	if err != nil {
		return "", fmt.Errorf("finding the image of gardener-resource-manager: %w", err)
	}
	image.WithOptionalTag(garden.GardenerVersion)
	return image.String(), nil
}

// networks are the cluster's as in a Seed, without the nodes': see the package comment.
func (env *Env) networks(ctx context.Context) (gardencorev1beta1.SeedNetworks, error) {
	config := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}
	if err := env.Client.Get(ctx, key, config); err != nil {
		return gardencorev1beta1.SeedNetworks{}, fmt.Errorf("reading how the cluster was made: %w", err)
	}
	var made struct {
		Networking struct{ PodSubnet, ServiceSubnet string } `json:"networking"`
	}
	if err := yaml.Unmarshal([]byte(config.Data["ClusterConfiguration"]), &made); err != nil {
		return gardencorev1beta1.SeedNetworks{}, fmt.Errorf("reading how the cluster was made: %w", err)
	}
	return gardencorev1beta1.SeedNetworks{
		Pods: made.Networking.PodSubnet, Services: made.Networking.ServiceSubnet,
		IPFamilies: []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv4},
	}, nil
}
