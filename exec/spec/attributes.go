package spec

// FileAttributes are arguments of all actions that write files, next to mode, owner and group.
type FileAttributes struct {
	Labels
	UnsafeWrites bool `arg:"unsafe_writes" default:"false" doc:"Where a new file cannot take the place of the old one, as with a file that is mounted into a container, write into the old one. Others may see a part of it meanwhile."`
}

// Labels are the parts of the SELinux context that a file should have. As with Ansible, a machine without SELinux ignores them.
type Labels struct {
	SEUser  string `arg:"seuser" doc:"User of the SELinux context. A machine without SELinux ignores it, and the next three."`
	SERole  string `arg:"serole" doc:"Role of the context."`
	SEType  string `arg:"setype" doc:"Type of the context."`
	SELevel string `arg:"selevel" doc:"Level of the context, if the policy has levels."`
}
