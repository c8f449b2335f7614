"""Topics about Kubernetes for make_instructions.py. A topic yields variants:
(question, input, short, why, check) in English, then the same in Chinese."""

CARDS = [("Gaudi", "habana.ai/gaudi", "gaudi-0", 8), ("NVIDIA", "nvidia.com/gpu", "nvidia-0", 2)]


def request_cards():
    for (who, res, node, _), n in ((CARDS[0], 1), (CARDS[0], 2), (CARDS[0], 8), (CARDS[1], 1),
                                   (CARDS[1], 2)):
        yield (f"How does a container ask for {n} {who} card{'s' * (n > 1)}?", "",
               f"Set resources.limits to `{res}: {n}`.",
               "Cards are an extended resource; the request is taken from the limit.",
               f"`kubectl describe node {node}` lists {res} under Allocatable.",
               f"容器怎样申请 {n} 张 {who} 卡？", "",
               f"在 resources.limits 里写 `{res}: {n}`。",
               "加速卡是扩展资源，请求值取自限制值。",
               f"`kubectl describe node {node}` 的 Allocatable 中列出 {res}。")


def whole_cards():
    for (who, res, _, _), n in ((CARDS[0], "0.5"), (CARDS[0], "1.5"), (CARDS[1], "0.25"),
                                (CARDS[1], "0.5")):
        yield (f"Can a container ask for {n} of a {who} card?", "",
               f"No, `{res}: {n}` is refused.",
               "An extended resource must be an integer.",
               "`kubectl apply` answers that the value must be an integer.",
               f"容器能申请 {n} 张 {who} 卡吗？", "",
               f"不能，`{res}: {n}` 会被拒绝。",
               "扩展资源必须是整数。",
               "`kubectl apply` 会报告该值必须是整数。")


def request_equals_limit():
    for (_, res, _, _), a, b in ((CARDS[0], 1, 2), (CARDS[0], 4, 8), (CARDS[1], 1, 2)):
        yield ("Explain this error.",
               f"Invalid value: \"{a}\": must be equal to {res} limit of {b}",
               f"The request is {a} but the limit is {b}.",
               f"For {res} the request must equal the limit.",
               f"Write only the limit `{res}: {b}` and apply again.",
               "解释这条错误。",
               f"Invalid value: \"{a}\": must be equal to {res} limit of {b}",
               f"请求值是 {a}，而限制值是 {b}。",
               f"{res} 的请求值必须等于限制值。",
               f"只写限制 `{res}: {b}`，然后重新应用。")


def insufficient():
    for (_, res, _, _), nodes, ask in ((CARDS[0], 3, 16), (CARDS[0], 1, 8), (CARDS[1], 3, 4),
                                       (CARDS[1], 2, 2)):
        yield ("Why is this Pod Pending?",
               f"0/{nodes} nodes are available: {nodes} Insufficient {res}.",
               f"No node has {ask} free units of {res}.",
               "The scheduler counts allocatable minus the requests of running Pods.",
               f"`kubectl describe pod` shows the request; lower {res} or free some cards.",
               "这个 Pod 为什么处于 Pending？",
               f"0/{nodes} nodes are available: {nodes} Insufficient {res}.",
               f"没有节点剩余 {ask} 个 {res}。",
               "调度器用可分配数减去运行中 Pod 的请求数。",
               f"`kubectl describe pod` 显示请求；减少 {res} 或释放一些卡。")


def free_cards():
    for (_, res, node, _), have, used in ((CARDS[0], 8, 2), (CARDS[0], 8, 6), (CARDS[0], 8, 8),
                                          (CARDS[1], 2, 1), (CARDS[1], 4, 1)):
        yield (f"Node {node} has {have} of {res} and Pods request {used}. How many are free?", "",
               f"{have - used} of {res} are free.",
               f"Free is allocatable minus requests: {have} - {used} = {have - used}.",
               f"`kubectl describe node {node}` shows both numbers.",
               f"节点 {node} 有 {have} 个 {res}，Pod 已请求 {used} 个，还剩多少？", "",
               f"还剩 {have - used} 个 {res}。",
               f"剩余等于可分配数减去请求数：{have} - {used} = {have - used}。",
               f"`kubectl describe node {node}` 显示这两个数字。")


def toleration():
    for who, key, node in (("Gaudi", "habana.ai/gaudi", "gaudi-0"),
                           ("NVIDIA", "nvidia.com/gpu", "nvidia-0"),
                           ("dedicated", "dedicated", "xeon-0")):
        yield (f"A Pod can't land on {node}, whose taint is `{key}:NoSchedule`. What is missing?",
               "",
               f"A toleration with the key `{key}` and the effect `NoSchedule`.",
               "A taint keeps every Pod away that does not tolerate it.",
               f"`kubectl describe node {node}` shows the taint.",
               f"节点 {node} 有污点 `{key}:NoSchedule`，Pod 无法调度，缺少什么？", "",
               f"缺少键为 `{key}`、效果为 `NoSchedule` 的容忍度。",
               "污点会阻挡所有不容忍它的 Pod。",
               f"`kubectl describe node {node}` 显示污点。")


def job_restart_policy():
    for name, bad in (("train", "Always"), ("finetune", "Always"), ("lora", "")):
        yield (f"The Job {name} is refused: spec.template.spec.restartPolicy: Required value. "
               "What do I write?", f"restartPolicy: {bad}" if bad else "",
               "Write `restartPolicy: Never` or `restartPolicy: OnFailure`.",
               "A Job ends, so Always is not allowed in it.",
               f"`kubectl apply -f {name}.yaml` then creates the Job.",
               f"Job {name} 被拒绝：spec.template.spec.restartPolicy: Required value，应当写什么？",
               f"restartPolicy: {bad}" if bad else "",
               "写 `restartPolicy: Never` 或 `restartPolicy: OnFailure`。",
               "Job 会结束，所以不允许 Always。",
               f"`kubectl apply -f {name}.yaml` 随后会创建 Job。")


def job_immutable():
    for name, what, zh in (("train", "the image", "镜像"), ("finetune", "the command", "命令"),
                           ("lora", "the resources", "资源")):
        yield (f"I changed {what} of the Job {name} and apply says: field is immutable. "
               "What now?", "",
               f"Delete the Job {name} and apply it again.",
               "The Pod template of a Job can't be changed after it was created.",
               f"`kubectl delete job {name}`, then `kubectl apply -f {name}.yaml`.",
               f"我修改了 Job {name} 的{zh}，apply 提示 field is immutable，怎么办？", "",
               f"删除 Job {name}，再重新应用。",
               "Job 的 Pod 模板在创建之后不能修改。",
               f"`kubectl delete job {name}`，然后 `kubectl apply -f {name}.yaml`。")


def backoff_limit():
    for n in (0, 2, 4, 6):
        yield (f"What happens in a Job with backoffLimit {n} when its Pod keeps failing?", "",
               f"The Job fails after {n} retries with BackoffLimitExceeded.",
               "backoffLimit counts the retries before the Job is marked Failed.",
               "`kubectl describe job` shows the condition Failed and its reason.",
               f"Job 的 backoffLimit 是 {n}，Pod 一直失败会怎样？", "",
               f"重试 {n} 次之后 Job 失败，原因是 BackoffLimitExceeded。",
               "backoffLimit 是 Job 标记为 Failed 之前的重试次数。",
               "`kubectl describe job` 显示状况 Failed 及其原因。")


def job_deadline():
    for s in (60, 600, 3600):
        yield (f"A Job has activeDeadlineSeconds: {s}. What does it do?", "",
               f"The Job is stopped after {s} seconds with DeadlineExceeded.",
               "The deadline counts from the start of the Job, retries included.",
               "`kubectl get job -o yaml` shows the condition Failed.",
               f"Job 设置了 activeDeadlineSeconds: {s}，作用是什么？", "",
               f"{s} 秒之后 Job 被停止，原因是 DeadlineExceeded。",
               "期限从 Job 开始时计算，包括重试。",
               "`kubectl get job -o yaml` 显示状况 Failed。")


def suspend():
    for name in ("train", "finetune", "lora"):
        yield (f"The Job {name} has no Pods and the condition Suspended. Why?", "",
               f"The Job {name} has `suspend: true`.",
               "A suspended Job creates no Pods until suspend is false.",
               f"`kubectl describe job {name}` shows the event Suspended.",
               f"Job {name} 没有 Pod，状况是 Suspended，为什么？", "",
               f"Job {name} 设置了 `suspend: true`。",
               "挂起的 Job 在 suspend 变为 false 之前不创建 Pod。",
               f"`kubectl describe job {name}` 显示事件 Suspended。")


def image_pull():
    for image in ("registry.local/train:v1", "registry.local/train:latest", "nvidia/cuda:11.7.1-base",
                  "intel/llm-finetune:v1.2"):
        yield ("The Pod shows ImagePullBackOff. What is wrong?", f"image: {image}",
               f"The image `{image}` can't be pulled.",
               "The name or tag does not exist, or the registry wants a login.",
               "`kubectl describe pod` shows the cause in the event Failed.",
               "Pod 显示 ImagePullBackOff，出了什么问题？", f"image: {image}",
               f"无法拉取镜像 `{image}`。",
               "名称或标签不存在，或者镜像仓库要求登录。",
               "`kubectl describe pod` 在事件 Failed 中显示原因。")


def secret_missing():
    for name in ("hf-token", "registry-login"):
        yield (f"An environment variable reads the Secret {name}, which does not exist. "
               "What does the Pod show?", "",
               "The Pod shows CreateContainerConfigError.",
               f"The kubelet can't find the Secret {name} for the variable.",
               f"`kubectl get secret {name}` answers NotFound.",
               f"环境变量引用了不存在的 Secret {name}，Pod 会显示什么？", "",
               "Pod 显示 CreateContainerConfigError。",
               f"kubelet 找不到该变量引用的 Secret {name}。",
               f"`kubectl get secret {name}` 返回 NotFound。")
        yield (f"A volume mounts the Secret {name}, which does not exist. What does the Pod show?",
               "",
               "The Pod stays in ContainerCreating with the event FailedMount.",
               f"The volume of the Secret {name} can't be set up.",
               f"`kubectl get secret {name}` answers NotFound.",
               f"卷挂载了不存在的 Secret {name}，Pod 会显示什么？", "",
               "Pod 停在 ContainerCreating，并有事件 FailedMount。",
               f"无法准备 Secret {name} 的卷。",
               f"`kubectl get secret {name}` 返回 NotFound。")


def oom_killed():
    for limit in ("256Mi", "512Mi", "1Gi", "2Gi"):
        yield ("The training Pod ended with exit code 137. Why?",
               f"reason: OOMKilled, limits.memory: {limit}",
               f"It used more memory than its limit of {limit}.",
               "The kernel kills a container that passes its memory limit.",
               "Raise the limit or lower the batch, then read lastState of the container.",
               "训练 Pod 以退出码 137 结束，为什么？",
               f"reason: OOMKilled, limits.memory: {limit}",
               f"它使用的内存超过了限制 {limit}。",
               "容器超过内存限制时会被内核终止。",
               "提高限制或减小批大小，再查看容器的 lastState。")


def crash_loop():
    for code in (1, 2, 127):
        yield (f"A container ends with exit code {code} again and again. "
               "What does CrashLoopBackOff mean?", "",
               "The kubelet waits longer before each restart.",
               f"The program itself ends with {code}, so a restart does not help.",
               "`kubectl logs --previous` shows the last words of the program.",
               f"容器反复以退出码 {code} 结束，CrashLoopBackOff 是什么意思？", "",
               "kubelet 在每次重启之前等待更长时间。",
               f"程序自己以 {code} 结束，重启没有帮助。",
               "`kubectl logs --previous` 显示程序最后的输出。")


def pvc_pending():
    for name, cls in (("adapter", "nfs-client"), ("data", "fast"), ("train-pvc", "local")):
        yield (f"The PersistentVolumeClaim {name} is Pending. What is wrong?",
               f"storageclass.storage.k8s.io \"{cls}\" not found",
               f"The StorageClass {cls} does not exist in this cluster.",
               "A claim is bound only by a class that exists.",
               f"`kubectl get storageclass` lists the names; correct {name}.",
               f"PersistentVolumeClaim {name} 处于 Pending，出了什么问题？",
               f"storageclass.storage.k8s.io \"{cls}\" not found",
               f"集群中不存在 StorageClass {cls}。",
               "只有存在的类才能绑定存储声明。",
               f"`kubectl get storageclass` 列出名称；请修改 {name}。")


def pvc_wait():
    for name in ("adapter", "data", "train-pvc"):
        yield (f"The claim {name} says: waiting for first consumer to be created before binding. "
               "Is it an error?", "",
               f"No, {name} is bound when a Pod uses it.",
               "WaitForFirstConsumer chooses the volume on the node of the Pod.",
               f"`kubectl get pvc {name}` shows Bound after the Pod is scheduled.",
               f"存储声明 {name} 提示 waiting for first consumer to be created before binding，"
               "这是错误吗？", "",
               f"不是，Pod 使用 {name} 时才会绑定。",
               "WaitForFirstConsumer 会在 Pod 所在节点选择卷。",
               f"Pod 调度之后 `kubectl get pvc {name}` 显示 Bound。")


def pvc_protection():
    for name in ("adapter", "data", "train-pvc"):
        yield (f"I deleted the claim {name} and it stays Terminating. Why?", "",
               f"A Pod still uses {name}.",
               "The finalizer kubernetes.io/pvc-protection waits for that Pod.",
               f"`kubectl describe pvc {name}` shows it under Used By.",
               f"我删除了存储声明 {name}，它一直处于 Terminating，为什么？", "",
               f"仍有 Pod 在使用 {name}。",
               "终结器 kubernetes.io/pvc-protection 等待该 Pod 结束。",
               f"`kubectl describe pvc {name}` 在 Used By 中显示它。")


def quota():
    for (_, res, _, _), ask, hard in ((CARDS[0], 8, 4), (CARDS[0], 2, 1), (CARDS[1], 2, 1)):
        yield ("The Job creates no Pod. Explain the event.",
               f"exceeded quota, requested: requests.{res}={ask}, limited: requests.{res}={hard}",
               f"The namespace may use {hard} of {res}, the Pod asks for {ask}.",
               "A ResourceQuota only refuses; it adds no cards.",
               "`kubectl describe resourcequota` shows used and hard.",
               "Job 没有创建 Pod，请解释这个事件。",
               f"exceeded quota, requested: requests.{res}={ask}, limited: requests.{res}={hard}",
               f"命名空间最多使用 {hard} 个 {res}，而 Pod 申请 {ask} 个。",
               "ResourceQuota 只会拒绝，不会增加卡。",
               "`kubectl describe resourcequota` 显示 used 和 hard。")


def forbidden():
    for verb, res in (("list", "pods"), ("create", "jobs"), ("get", "pods/log"), ("delete", "jobs")):
        yield ("Explain this answer of the API server.",
               f"{res} is forbidden: User \"student\" cannot {verb} resource \"{res}\"",
               f"The user student has no right to {verb} {res}.",
               "A Role must list the verb and the resource, and a RoleBinding must name the user.",
               f"`kubectl auth can-i {verb} {res}` answers no.",
               "解释 API 服务器的这条回答。",
               f"{res} is forbidden: User \"student\" cannot {verb} resource \"{res}\"",
               f"用户 student 没有对 {res} 执行 {verb} 的权限。",
               "Role 必须列出动词和资源，RoleBinding 必须指定该用户。",
               f"`kubectl auth can-i {verb} {res}` 返回 no。")


def follow_logs():
    for name in ("train", "finetune", "lora", "first-finetune"):
        yield (f"How do I follow the log of the Job {name}?", "",
               f"Run `kubectl logs -f job/{name}`.",
               "kubectl finds the Pod of the Job and follows its output.",
               f"`kubectl get pods` shows the Pod of {name} as Running.",
               f"怎样跟踪 Job {name} 的日志？", "",
               f"运行 `kubectl logs -f job/{name}`。",
               "kubectl 会找到该 Job 的 Pod 并跟踪输出。",
               f"`kubectl get pods` 显示 {name} 的 Pod 为 Running。")


def logs_too_early():
    for why in ("ContainerCreating", "trying and failing to pull image"):
        yield ("kubectl logs answers with an error. Explain it.",
               f"container \"train\" in pod \"p\" is waiting to start: {why}",
               "The container has not started, so there is no log yet.",
               f"It still waits: {why}.",
               "`kubectl describe pod p` shows the events of the start.",
               "kubectl logs 返回错误，请解释。",
               f"container \"train\" in pod \"p\" is waiting to start: {why}",
               "容器还没有启动，所以没有日志。",
               f"它仍在等待：{why}。",
               "`kubectl describe pod p` 显示启动过程的事件。")


def exec_completed():
    for name in ("train", "finetune", "lora"):
        yield (f"Can I run kubectl exec in the Pod of the Job {name} after it has completed?", "",
               "No, a completed Pod has no running process.",
               "exec needs a running container.",
               f"Copy the files before {name} ends, or mount its claim in another Pod.",
               f"Job {name} 的 Pod 完成之后，还能运行 kubectl exec 吗？", "",
               "不能，已完成的 Pod 没有运行中的进程。",
               "exec 需要运行中的容器。",
               f"在 {name} 结束之前复制文件，或在另一个 Pod 中挂载它的存储声明。")


def copy_out():
    for pod, path in (("train-x", "/out/adapter"), ("dataaccess", "/tmp/pvc-mount/adapter"),
                      ("lora-0", "/work/adapter")):
        yield (f"How do I copy the folder {path} out of the Pod {pod}?", "",
               f"Run `kubectl cp {pod}:{path} ./adapter`.",
               "kubectl cp starts tar in the container and reads the stream.",
               "The folder must hold adapter_config.json and adapter_model.safetensors.",
               f"怎样把 Pod {pod} 中的目录 {path} 复制出来？", "",
               f"运行 `kubectl cp {pod}:{path} ./adapter`。",
               "kubectl cp 在容器中启动 tar 并读取数据流。",
               "目录中必须有 adapter_config.json 和 adapter_model.safetensors。")


def node_selector():
    for key, value in (("habana.ai/device.name", "gaudi2"), ("habana.ai/device.name", "gaudi3"),
                       ("nvidia.com/gpu.product", "A100"), ("node-type", "xeon")):
        yield ("Why does the scheduler find no node?",
               f"nodeSelector {key}: {value}; node(s) didn't match Pod's node affinity/selector",
               f"No node has the label `{key}={value}`.",
               "nodeSelector allows only nodes with exactly this label.",
               f"`kubectl get nodes -L {key}` shows the labels.",
               "调度器为什么找不到节点？",
               f"nodeSelector {key}: {value}; node(s) didn't match Pod's node affinity/selector",
               f"没有节点带有标签 `{key}={value}`。",
               "nodeSelector 只允许带有该标签的节点。",
               f"`kubectl get nodes -L {key}` 显示标签。")


def cordon():
    for node in ("xeon-0", "gaudi-0", "nvidia-0"):
        yield (f"The node {node} shows SchedulingDisabled. What does it mean?", "",
               f"The node {node} was cordoned and takes no new Pods.",
               "Running Pods stay; only new ones are kept away.",
               f"`kubectl uncordon {node}` opens it again.",
               f"节点 {node} 显示 SchedulingDisabled，是什么意思？", "",
               f"节点 {node} 被封锁，不接受新的 Pod。",
               "运行中的 Pod 保留，只阻挡新的 Pod。",
               f"`kubectl uncordon {node}` 重新开放它。")


def node_not_ready():
    for node in ("xeon-0", "gaudi-0", "nvidia-0"):
        yield (f"The node {node} is NotReady. What happened?",
               "Kubelet stopped posting node status.",
               f"The kubelet of {node} no longer reports.",
               "The control plane marks a silent node as Unknown and taints it.",
               f"`kubectl describe node {node}` shows the condition Ready.",
               f"节点 {node} 处于 NotReady，发生了什么？",
               "Kubelet stopped posting node status.",
               f"节点 {node} 的 kubelet 不再上报状态。",
               "控制面把没有消息的节点标记为 Unknown 并添加污点。",
               f"`kubectl describe node {node}` 显示状况 Ready。")


def shm():
    for n in (2, 4, 8):
        yield (f"Training with {n} processes fails: Error while creating shared memory segment "
               "/dev/shm. What helps?", "",
               "Mount an emptyDir with `medium: Memory` at /dev/shm.",
               "A container has 64 MB of /dev/shm unless a volume gives more.",
               "Count it against limits.memory of the container.",
               f"{n} 个进程的训练失败：Error while creating shared memory segment /dev/shm，"
               "怎样解决？", "",
               "在 /dev/shm 挂载 `medium: Memory` 的 emptyDir。",
               "容器的 /dev/shm 默认只有 64 MB，需要卷来扩大。",
               "它计入容器的 limits.memory。")


def device_plugin():
    for who, res, ns, ds in (
            ("Gaudi", "habana.ai/gaudi", "habana-system", "habanalabs-device-plugin-daemonset"),
            ("NVIDIA", "nvidia.com/gpu", "kube-system", "nvidia-device-plugin-daemonset")):
        for where, zh in (("Allocatable", "Allocatable"), ("Capacity", "Capacity")):
            yield (f"A node with {who} cards shows no {res} under {where}. What is missing?", "",
                   f"The {who} device plugin does not run on the node.",
                   f"The plugin tells the kubelet how many {res} there are.",
                   f"`kubectl get daemonset -n {ns} {ds}` shows whether it is ready.",
                   f"装有 {who} 卡的节点在 {zh} 中没有 {res}，缺少什么？", "",
                   f"节点上没有运行 {who} 的设备插件。",
                   f"设备插件告诉 kubelet 有多少个 {res}。",
                   f"`kubectl get daemonset -n {ns} {ds}` 显示它是否就绪。")


def unknown_field():
    for field, place in (("affinity", "resources"), ("limit", "resources"), ("restartpolicy", "spec"),
                         ("replica", "spec")):
        yield ("kubectl apply refuses the manifest. Explain it.",
               f"strict decoding error: unknown field \"{place}.{field}\"",
               f"There is no field `{field}` in {place}.",
               "The name is misspelled or stands at the wrong level.",
               f"`kubectl explain` lists the fields of {place}.",
               "kubectl apply 拒绝了清单，请解释。",
               f"strict decoding error: unknown field \"{place}.{field}\"",
               f"{place} 中没有字段 `{field}`。",
               "名称拼写错误，或者写在了错误的层级。",
               f"`kubectl explain` 列出 {place} 的字段。")


def deployment_selector():
    for name in ("inference", "web", "gateway"):
        yield (f"The Deployment {name} is refused: selector does not match template labels. Why?",
               "",
               f"The labels of the Pod template differ from the selector of {name}.",
               "A Deployment finds its Pods by the selector, so both must match.",
               f"Write the same `app: {name}` in selector and template.",
               f"Deployment {name} 被拒绝：selector does not match template labels，为什么？", "",
               f"Pod 模板的标签与 {name} 的选择器不同。",
               "Deployment 用选择器查找 Pod，两者必须一致。",
               f"在选择器和模板中写相同的 `app: {name}`。")


def evicted():
    for size in ("1Gi", "2Gi", "4Gi"):
        yield ("A Pod was Evicted. Explain the message.",
               f"Usage of EmptyDir volume \"cache\" exceeds the limit \"{size}\".",
               f"The volume cache grew beyond {size}.",
               "The kubelet evicts a Pod whose emptyDir passes its sizeLimit.",
               "Raise sizeLimit or write less into the volume.",
               "Pod 被驱逐（Evicted），请解释这条消息。",
               f"Usage of EmptyDir volume \"cache\" exceeds the limit \"{size}\".",
               f"卷 cache 的用量超过了 {size}。",
               "emptyDir 超过 sizeLimit 时，kubelet 会驱逐 Pod。",
               "提高 sizeLimit，或者减少写入卷的数据。")


def quantities():
    for a, b, en, zh in (("500m", "0.5", "half a CPU", "半个 CPU"),
                         ("2000m", "2", "two CPUs", "两个 CPU"),
                         ("1Gi", "1024Mi", "1024 mebibytes", "1024 兆字节"),
                         ("1536Mi", "1.5Gi", "one and a half gibibytes", "一个半吉字节")):
        yield (f"What does the quantity `{a}` mean?", "",
               f"`{a}` is the same as `{b}`, {en}.",
               "m is a thousandth; Mi and Gi are powers of 1024.",
               "`kubectl describe pod` prints the quantity as written.",
               f"数量 `{a}` 是什么意思？", "",
               f"`{a}` 等于 `{b}`，即{zh}。",
               "m 表示千分之一，Mi 和 Gi 是 1024 的幂。",
               "`kubectl describe pod` 按原样显示数量。")


def qos():
    for what, zh, cls in (("requests equal limits for cpu and memory", "cpu 和内存的请求等于限制",
                           "Guaranteed"),
                          ("requests below the limits", "请求低于限制", "Burstable"),
                          ("no requests and no limits", "没有请求也没有限制", "BestEffort")):
        yield (f"Which QoS class has a Pod with {what}?", "",
               f"The Pod is {cls}.",
               "The class follows from requests and limits of all containers.",
               "`kubectl get pod -o yaml` shows status.qosClass.",
               f"Pod {zh}，属于哪个 QoS 类？", "",
               f"Pod 属于 {cls}。",
               "QoS 类由所有容器的请求和限制决定。",
               "`kubectl get pod -o yaml` 显示 status.qosClass。")


def indexed_job():
    for n in (2, 4, 8):
        yield (f"How does a Pod of an Indexed Job with {n} completions learn its number?", "",
               f"From the variable JOB_COMPLETION_INDEX, 0 to {n - 1}.",
               "An Indexed Job gives every Pod a fixed index.",
               "`kubectl exec` and `env` show the variable.",
               f"有 {n} 个 completions 的 Indexed Job 中，Pod 怎样知道自己的编号？", "",
               f"从变量 JOB_COMPLETION_INDEX 得到，范围是 0 到 {n - 1}。",
               "Indexed Job 给每个 Pod 固定的编号。",
               "`kubectl exec` 和 `env` 显示该变量。")


def crd_missing():
    for kind, group in (("PyTorchJob", "kubeflow.org/v1"), ("MPIJob", "kubeflow.org/v2beta1"),
                        ("JobSet", "jobset.x-k8s.io/v1alpha2")):
        yield ("Explain this error of kubectl apply.",
               f"no matches for kind \"{kind}\" in version \"{group}\"",
               f"The cluster does not know the kind {kind}.",
               "Its CustomResourceDefinition is not installed.",
               f"`kubectl api-resources` must list {kind} first.",
               "解释 kubectl apply 的这条错误。",
               f"no matches for kind \"{kind}\" in version \"{group}\"",
               f"集群不认识类型 {kind}。",
               "它的 CustomResourceDefinition 没有安装。",
               f"`kubectl api-resources` 必须先列出 {kind}。")


def kueue():
    for name in ("train", "gpu", "gaudi"):
        yield (f"How is a Job put into the Kueue queue {name}?", "",
               f"Set the label `kueue.x-k8s.io/queue-name: {name}` on the Job.",
               "Kueue keeps the Job suspended until quota is reserved.",
               "`kubectl describe workload` shows the condition Admitted.",
               f"怎样把 Job 放入 Kueue 队列 {name}？", "",
               f"给 Job 设置标签 `kueue.x-k8s.io/queue-name: {name}`。",
               "在预留配额之前，Kueue 保持 Job 挂起。",
               "`kubectl describe workload` 显示状况 Admitted。")


def helm_uninstall():
    for name in ("demo", "finetune", "optimum-habana-examples"):
        yield (f"The Gaudi example chart is installed as {name}. What does `helm uninstall {name}` "
               "do to the trained adapter?", "",
               f"It deletes the claim {name}-pvc, and the adapter with it.",
               "The chart does not keep its PersistentVolumeClaim.",
               "Run `kubectl cp` before the uninstall.",
               f"Gaudi 示例 chart 安装为 {name}，`helm uninstall {name}` 会怎样影响训练好的适配器？",
               "",
               f"它会删除存储声明 {name}-pvc，适配器也随之删除。",
               "该 chart 不保留自己的 PersistentVolumeClaim。",
               "卸载之前先运行 `kubectl cp`。")


TOPICS = [request_cards, whole_cards, request_equals_limit, insufficient, free_cards, toleration,
          job_restart_policy, job_immutable, backoff_limit, job_deadline, suspend, image_pull,
          secret_missing, oom_killed, crash_loop, pvc_pending, pvc_wait, pvc_protection, quota,
          forbidden, follow_logs, logs_too_early, exec_completed, copy_out, node_selector, cordon,
          node_not_ready, shm, device_plugin, unknown_field, deployment_selector, evicted,
          quantities, qos, indexed_job, crd_missing, kueue, helm_uninstall]
