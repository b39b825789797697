package conformance

func quotas() []Behaviour {
	return []Behaviour{}
}
