{{- define "facts" -}}
kind: ControlPlane
resource: controlplanes
webhooks: true
# The types with webhooks that API servers of shoots call.
shootWebhooks: [aws]
images: true
observesImages: true
clouds: false
# 90th percentile in seconds from which operations count as slow.
slow: 300
# It deploys components that call clouds, but calls none itself.
networks: []
# It removes conditions of nodes in the shoot that are not updated any more.
shoots: true
logs:
- {name: aws-cloud-controller-manager, pod: cloud-controller-manager, container: aws-cloud-controller-manager, formats: [klog]}
- {pod: cloud-controller-manager, container: openstack-cloud-controller-manager, formats: [klog]}
- {name: aws-csi-driver-controller, pod: csi-driver-controller, container: aws-csi-, formats: [klog]}
- {pod: csi-driver-controller, container: openstack-csi-, formats: [klog]}
- {pod: csi-driver-manila-controller, container: openstack-csi-manila-, formats: [klog]}
- {pod: csi-snapshot-controller, container: csi-snapshot-controller, formats: [klog]}
{{- end -}}

{{/* No image has a value of its own. */}}
{{- define "images" -}}
[]
{{- end -}}

{{/* Class and size of an Etcd cannot change after its creation. Without values, they are upstream's. */}}
{{- define "args" -}}
{{- range $etcd := list "main" "events" }}
{{- with (index $.Values.etcd $etcd).storageClass }}
- {{ printf "--etcd-%s-storage-class=%s" $etcd . | quote }}
{{- end }}
{{- with (index $.Values.etcd $etcd).storageCapacity }}
- {{ printf "--etcd-%s-storage-capacity=%s" $etcd . | quote }}
{{- end }}
{{- end }}
{{- end -}}
