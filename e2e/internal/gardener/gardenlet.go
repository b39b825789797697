package gardener

import (
	"time"

	gardenletconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/gardenlet/v1alpha1"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentbaseconfigv1alpha1 "k8s.io/component-base/config/v1alpha1"
)

// gardenletConfig is the configuration of the seed's gardenlet. It looks at conditions more often than by default, since whoever runs a landscape
// waits for them; and logging and dependency watchdog are off, for which there are no programs.
func (s *Seed) gardenletConfig(health server) (*gardenletconfigv1alpha1.GardenletConfiguration, error) {
	metrics, err := freeServer()
	if err != nil {
		return nil, err
	}
	often := &metav1.Duration{Duration: 15 * time.Second}
	seldom := &metav1.Duration{Duration: time.Hour}
	return &gardenletconfigv1alpha1.GardenletConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: gardenletconfigv1alpha1.SchemeGroupVersion.String(), Kind: "GardenletConfiguration"},
		GardenClientConnection: &gardenletconfigv1alpha1.GardenClientConnection{
			ClientConnectionConfiguration: componentbaseconfigv1alpha1.ClientConnectionConfiguration{QPS: 100, Burst: 130},
		},
		SeedClientConnection: &gardenletconfigv1alpha1.SeedClientConnection{
			ClientConnectionConfiguration: componentbaseconfigv1alpha1.ClientConnectionConfiguration{QPS: 100, Burst: 130},
		},
		Controllers: &gardenletconfigv1alpha1.GardenletControllerConfiguration{
			ControllerInstallationCare: &gardenletconfigv1alpha1.ControllerInstallationCareControllerConfiguration{SyncPeriod: often},
			Seed:                       &gardenletconfigv1alpha1.SeedControllerConfiguration{SyncPeriod: seldom},
			SeedCare:                   &gardenletconfigv1alpha1.SeedCareControllerConfiguration{SyncPeriod: often},
			Shoot: &gardenletconfigv1alpha1.ShootControllerConfiguration{
				ConcurrentSyncs: new(5), SyncPeriod: seldom, ProgressReportPeriod: &metav1.Duration{Duration: 2 * time.Second},
			},
			ShootCare:   &gardenletconfigv1alpha1.ShootCareControllerConfiguration{SyncPeriod: often},
			ShootState:  &gardenletconfigv1alpha1.ShootStateControllerConfiguration{ConcurrentSyncs: new(5)},
			ShootStatus: &gardenletconfigv1alpha1.ShootStatusControllerConfiguration{ConcurrentSyncs: new(5)}, // it has no default
		},
		Resources:      &gardenletconfigv1alpha1.ResourcesConfiguration{Capacity: corev1.ResourceList{"shoots": resource.MustParse("20")}},
		LeaderElection: &componentbaseconfigv1alpha1.LeaderElectionConfiguration{LeaderElect: new(false)},
		LogLevel:       "info", LogFormat: "text",
		Server: gardenletconfigv1alpha1.ServerConfiguration{
			HealthProbes: &gardenletconfigv1alpha1.Server{BindAddress: health.host, Port: health.port},
			Metrics:      &gardenletconfigv1alpha1.Server{BindAddress: metrics.host, Port: metrics.port},
		},
		Logging:    &gardenletconfigv1alpha1.Logging{Enabled: new(false)},
		Monitoring: &gardenletconfigv1alpha1.MonitoringConfig{Shoot: &gardenletconfigv1alpha1.ShootMonitoringConfig{Enabled: new(false)}},
		SeedConfig: &gardenletconfigv1alpha1.SeedConfig{SeedTemplate: s.seedTemplate()},
	}, nil
}

func (s *Seed) seedTemplate() gardencorev1beta1.SeedTemplate {
	credentials := corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: "simulated", Namespace: v1beta1constants.GardenNamespace}
	return gardencorev1beta1.SeedTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: s.Spec.Provider, Region: Region, Zones: []string{Zone}},
			DNS: gardencorev1beta1.SeedDNS{
				Provider: &gardencorev1beta1.SeedDNSProvider{Type: DNS, CredentialsRef: &credentials},
				// A control plane can only move between seeds of one domain.
				Internal: &gardencorev1beta1.SeedDNSProviderConfig{Type: DNS, Domain: "internal.example.com", CredentialsRef: credentials},
			},
			Ingress: &gardencorev1beta1.Ingress{
				Domain: "ingress." + s.Name + ".example.com", Controller: gardencorev1beta1.IngressController{Kind: "nginx"},
			},
			Networks: gardencorev1beta1.SeedNetworks{
				Nodes: new(s.Spec.Nodes.String()), Pods: s.Spec.Pods.String(), Services: s.Spec.Services.String(),
			},
			Backup: &gardencorev1beta1.Backup{Provider: Backup, Region: new(Region), CredentialsRef: &credentials}, // without, no control plane can move
			Settings: &gardencorev1beta1.SeedSettings{
				Scheduling:            &gardencorev1beta1.SeedSettingScheduling{Visible: true},
				VerticalPodAutoscaler: &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{Enabled: false},
				DependencyWatchdog: &gardencorev1beta1.SeedSettingDependencyWatchdog{
					Weeder: &gardencorev1beta1.SeedSettingDependencyWatchdogWeeder{Enabled: false},
					Prober: &gardencorev1beta1.SeedSettingDependencyWatchdogProber{Enabled: false},
				},
			},
		},
	}
}
