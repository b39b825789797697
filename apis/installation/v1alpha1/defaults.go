package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RestWave is the name of the wave of all seeds that no other wave selects.
const RestWave = "rest"

const (
	defaultSoakTime       = 5 * time.Minute
	defaultMaxUnavailable = "25%"
	defaultDeadline       = 10 * time.Minute
	defaultTolerance      = time.Minute
	defaultMaxWait        = 10 * time.Minute
	defaultInterruptions  = 5
	defaultMaxFailures    = 0
	defaultHistoryLimit   = 5
)

// Default sets the defaults of unset fields. Afterwards the last wave is "rest", every wave has all its fields, and only chart,
// ociRepository and values may still be nil.
func Default(config *ControllerDeploymentConfig) {
	rollout := orNew(&config.Rollout)
	setDuration(&rollout.SoakTime, defaultSoakTime)
	if rollout.MaxUnavailable == nil {
		rollout.MaxUnavailable = new(intstr.FromString(defaultMaxUnavailable))
	}
	if n := len(rollout.Waves); n == 0 || rollout.Waves[n-1].Name != RestWave {
		rollout.Waves = append(rollout.Waves, Wave{Name: RestWave, SeedSelector: &metav1.LabelSelector{}})
	}
	for i := range rollout.Waves {
		wave := &rollout.Waves[i]
		setDuration(&wave.SoakTime, rollout.SoakTime.Duration)
		if wave.MaxUnavailable == nil {
			wave.MaxUnavailable = new(*rollout.MaxUnavailable)
		}
	}
	gate := orNew(&rollout.HealthGate)
	setDuration(&gate.Deadline, defaultDeadline)
	setDuration(&gate.Tolerance, defaultTolerance)
	setDuration(&gate.MaxWait, defaultMaxWait)
	if gate.MaxInterruptions == nil {
		gate.MaxInterruptions = new(int32(defaultInterruptions))
	}
	if rollout.MaxFailures == nil {
		rollout.MaxFailures = new(intstr.FromInt32(defaultMaxFailures))
	}
	if rollout.Rollback == "" {
		rollout.Rollback = RollbackAutomatic
	}
	if uninstall := orNew(&config.Uninstall); uninstall.WhileRequired == "" {
		uninstall.WhileRequired = UninstallWait
	}
	if config.HistoryLimit == nil {
		config.HistoryLimit = new(int32(defaultHistoryLimit))
	}
}

func orNew[T any](field **T) *T {
	if *field == nil {
		*field = new(T)
	}
	return *field
}

func setDuration(field **metav1.Duration, value time.Duration) {
	if *field == nil {
		*field = &metav1.Duration{Duration: value}
	}
}
