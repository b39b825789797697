{{- define "metrics" -}}
- trellis_installation_phase
- trellis_rollout_due_timestamp_seconds
- trellis_rollout_empty_waves
- trellis_rollout_installations
- trellis_rollout_remarks
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
      What ControllerDeployment {{`{{ $labels.deployment }}`}} says has failed in a seed, and goes no further. Which revision it is and why is in its
      events and in status.providerStatus of the installations. Register something better, or have it tried once more.
- alert: TrellisControllerInstallationRolloutLate
  expr: time() > max by (deployment) (trellis_rollout_due_timestamp_seconds{ {{- $job -}} })
  for: {{ .Values.rollouts.lateAfter }}
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A rollout does not go on
    description: >-
      What ControllerDeployment {{`{{ $labels.deployment }}`}} says should have reached more seeds {{ .Values.rollouts.lateAfter }} ago. Nothing has failed. Seeds may be
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
      A wave of ControllerDeployment {{`{{ $labels.deployment }}`}} selects no seed that has an installation: what is rolled out is proven by nobody
      there. Which it is says the condition Valid of the installations. Correct its seedSelector, or remove the wave.
- alert: TrellisControllerInstallationSeedVanished
  expr: max by (deployment) (trellis_rollout_remarks{ {{- $job -}} }) == 1
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A seed has gone while a revision was failing there
    description: >-
      An installation of ControllerDeployment {{`{{ $labels.deployment }}`}} was deleted while it was not healthy with a revision that was on trial: that
      proves nothing any more. Which one it was say the events of the ControllerDeployment and the condition Valid of the installations.
- alert: TrellisControllerInstallationSeedUnreachable
  expr: min by (seed) (trellis_seed_reachable{ {{- $job -}} }) == 0
  for: 15m
  labels:
    severity: warning
    {{- $labels | nindent 4 }}
  annotations:
    summary: A seed cannot be reached
    description: >-
      Nothing of its types has been installed, updated or removed in seed {{`{{ $labels.seed }}`}} for a quarter of an hour. Why is in
      status.providerStatus.lastError of its installations.
{{- end -}}

{{- define "panels" -}}
{{- $job := printf "job=%q" (include "common.name" .) -}}
- title: Rollouts
  description: ControllerDeployments by where their rollouts are.
  unit: short
  queries:
  - expr: sum by (state) (trellis_rollout_state{ {{- $job -}} })
    legend: {{`"{{state}}"`}}
- title: Progress
  description: Installations of the wave that a rollout is at, and those of them that are healthy with what is new.
  unit: short
  queries:
  - expr: sum by (deployment, wave, count) (trellis_rollout_installations{ {{- $job -}} })
    legend: {{`"{{deployment}} {{wave}} {{count}}"`}}
{{ include "common.installationPanels" . }}
- title: Seeds
  description: Those that are served, and those of them that can be reached.
  unit: short
  queries:
  - expr: count(trellis_seed_reachable{ {{- $job -}} })
    legend: served
  - expr: sum(trellis_seed_reachable{ {{- $job -}} })
    legend: reached
{{- end -}}
