{{- define "metrics" -}}
- trellis_installation_phase
- trellis_rollout_due_timestamp_seconds
- trellis_rollout_empty_waves
- trellis_rollout_installations
- trellis_rollout_warnings
- trellis_rollout_state
- trellis_seed_reachable
{{- end -}}

{{- define "alerts" -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
{{- $labels := include "common.alertLabels" . -}}
{{ include "common.installationAlerts" . }}
- alert: TrellisControllerInstallationRolloutStopped
  expr: max by (deployment) (trellis_rollout_state{ {{- $job }},state="Stopped"}) == 1
  for: 1m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A rollout has failed
    description: >-
      The newest revision of ControllerDeployment {{`{{ $labels.deployment }}`}} has failed in a seed and is not rolled out further. Its events and
      status.providerStatus of the installations give the revision and the reason. Register a corrected revision, or request a retry.
- alert: TrellisControllerInstallationRolloutLate
  expr: time() > max by (deployment) (trellis_rollout_due_timestamp_seconds{ {{- $job -}} })
  for: {{ .Values.rollouts.lateAfter }}
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A rollout is late
    description: >-
      The newest revision of ControllerDeployment {{`{{ $labels.deployment }}`}} should have reached more seeds {{ .Values.rollouts.lateAfter }} ago. Nothing has failed. Seeds may be
      unreachable, come and go, or not have been healthy before: see the phases of the installations of the wave that it is at.
- alert: TrellisControllerInstallationWaveEmpty
  expr: max by (deployment) (trellis_rollout_empty_waves{ {{- $job -}} }) > 0
  for: 1h
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A wave of a rollout selects no seed
    description: >-
      A wave of ControllerDeployment {{`{{ $labels.deployment }}`}} selects no seed that has an installation, so no seed there tests a new
      revision. The condition Valid of the installations names the wave. Correct its seedSelector, or remove the wave.
- alert: TrellisControllerInstallationSeedVanished
  expr: max by (deployment) (trellis_rollout_warnings{ {{- $job -}} }) == 1
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A seed was deleted while a revision was failing there
    description: >-
      An installation of ControllerDeployment {{`{{ $labels.deployment }}`}} was deleted while it was not healthy with a candidate revision, so it no
      longer counts. The events of the ControllerDeployment and the condition Valid of the installations name the seed.
- alert: TrellisControllerInstallationSeedUnreachable
  expr: min by (seed) (trellis_seed_reachable{ {{- $job -}} }) == 0
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A seed is unreachable
    description: >-
      Nothing of its types has been installed, updated or removed in seed {{`{{ $labels.seed }}`}} for 15 minutes.
      status.providerStatus.lastError of its installations gives the reason.
{{- end -}}
