package kubelet

import corev1 "k8s.io/api/core/v1"

// ProbeResult decides when a probe counts as successful: after a number of equal answers in a row.
type ProbeResult struct {
	// Successful is the result so far.
	Successful bool

	successes, failures int32
}

// Observe adds an answer. It reports whether failed answers have reached the threshold, at which a container fails its liveness probe.
func (r *ProbeResult) Observe(probe *corev1.Probe, success bool) (failed bool) {
	if success {
		r.successes, r.failures = r.successes+1, 0
		if r.successes >= max(probe.SuccessThreshold, 1) {
			r.Successful = true
		}
		return false
	}
	r.successes, r.failures = 0, r.failures+1
	if r.failures < max(probe.FailureThreshold, 1) {
		return false
	}
	r.Successful, r.failures = false, 0
	return true
}
