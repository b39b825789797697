package fake_test

import "encoding/base64"

// Two keys, and their fingerprints as these commands print them: openssl rsa -in key -pubout -outform DER | openssl md5 -c, and ssh-keygen -l.
const (
	rsaKey             = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC0cMAJFhYaOUS2cfsEWOs6IGT1UU0NnsFm4OkhKU+wcVmJzwPrSHUwVKngv5uMoQIO5vN4s2CcYTh0ruVVPj88KIr+OVVRSVMv2ekcfd6N8/L/7SV+4Ljb3jFeQLqyk/Cm3uMyQnP0ZrAOeX4gM2cYb4P/IgfnJDuXv+tBPvCMRCLH5l8n/vB9pItIDl3/Ob8ylokbx69PEDk6JgCp19Krq+t7mRcpEVg125R6OTMaxU9RssbwadOLmTxilsPQVJ3l0oVBp2a+qwti7+OMjJtj/Cd1digrInD6iLRRpBoKcpIXyJMqmTs6JHvkDXrUuxJ9tMDCw8G0gKKiQQlowX9/ user"
	rsaFingerprint     = "ff:83:9b:b7:a2:0e:47:07:c4:f8:19:f2:ee:b5:9d:01"
	ed25519Key         = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDVSLuQ69qOrev8cGJxCiK7KifXa7LkoZJFeA0BNz4qh user"
	ed25519Fingerprint = "EbbHwXRRJkQe+tYEgPvQfed829jIcfgD7iOaFH28ah0="
)

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
