package conformance

func lists() []Behaviour {
	return []Behaviour{}
}
