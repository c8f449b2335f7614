"""Topics about training and hardware for make_instructions.py; the form of a
variant is described in instructions_k8s.py."""

import math


def lora_scale():
    for r, alpha in ((8, 16), (8, 32), (16, 16), (4, 8), (32, 64), (16, 64)):
        s = alpha // r
        yield (f"What is the LoRA scale with rank {r} and alpha {alpha}?", "",
               f"The scale is {s}.",
               f"Scale is alpha divided by rank: {alpha} / {r} = {s}.",
               "adapter_config.json holds r and lora_alpha.",
               f"LoRA 的秩是 {r}、alpha 是 {alpha}，缩放是多少？", "",
               f"缩放是 {s}。",
               f"缩放等于 alpha 除以秩：{alpha} / {r} = {s}。",
               "adapter_config.json 中有 r 和 lora_alpha。")


def lora_parameters():
    for r, i, o in ((8, 128, 128), (4, 128, 64), (16, 128, 384), (8, 4096, 4096), (8, 4096, 1024)):
        n = r * (i + o)
        yield (f"How many parameters has a LoRA of rank {r} on a layer from {i} to {o}?", "",
               f"It has {n} parameters.",
               f"A is r x in and B is out x r: {r} x ({i} + {o}) = {n}.",
               "The trainer prints the trainable number at the start.",
               f"在从 {i} 到 {o} 的层上，秩为 {r} 的 LoRA 有多少参数？", "",
               f"有 {n} 个参数。",
               f"A 是 r x in，B 是 out x r：{r} x ({i} + {o}) = {n}。",
               "训练程序启动时打印可训练参数的数量。")


def lora_targets():
    for t in ("q_proj,v_proj", "q_proj,k_proj,v_proj,o_proj", "gate_proj,up_proj,down_proj"):
        where, zh = (("the MLP", "MLP") if "gate" in t else ("the attention", "注意力"))
        yield (f"What do the target modules `{t}` mean?", "",
               f"LoRA is added to these layers of {where}.",
               "All other weights stay frozen.",
               "adapter_config.json lists them under target_modules.",
               f"目标模块 `{t}` 是什么意思？", "",
               f"LoRA 加在{zh}的这些层上。",
               "其他权重保持冻结。",
               "adapter_config.json 在 target_modules 中列出它们。")


def lora_b_zero():
    for r in (4, 8, 16):
        yield (f"Why does a new LoRA adapter of rank {r} not change the model at step 0?", "",
               "Because the matrix B starts at zero.",
               "The product B A is zero, so the output equals the base model.",
               "The loss at step 0 with and without the adapter is the same.",
               f"为什么秩为 {r} 的新 LoRA 适配器在第 0 步不改变模型？", "",
               "因为矩阵 B 从零开始。",
               "乘积 B A 为零，所以输出等于基础模型。",
               "第 0 步的损失在有无适配器时相同。")


def effective_batch():
    for b, a, c in ((4, 2, 1), (8, 4, 1), (2, 8, 2), (12, 1, 8), (16, 1, 8)):
        yield (f"Batch {b}, accumulation {a}, {c} process{'es' * (c > 1)}: "
               "what is the effective batch?", "",
               f"The effective batch is {a * b * c}.",
               f"Multiply all three: {b} x {a} x {c} = {a * b * c}.",
               "One optimizer step sees so many records.",
               f"批大小 {b}，梯度累积 {a}，{c} 个进程，有效批大小是多少？", "",
               f"有效批大小是 {a * b * c}。",
               f"三者相乘：{b} x {a} x {c} = {a * b * c}。",
               "一次优化器更新会看到这么多条记录。")


def steps_per_epoch():
    for n, b in ((400, 8), (500, 8), (1000, 16), (480, 12), (52000, 96)):
        s = math.ceil(n / b)
        yield (f"How many steps has an epoch with {n} records and batch {b}?", "",
               f"An epoch has {s} steps.",
               f"Divide the records by the batch and round up: {n} / {b} = {s}.",
               "The log shows the epoch of every step.",
               f"{n} 条记录、批大小 {b}，一个 epoch 有多少步？", "",
               f"一个 epoch 有 {s} 步。",
               f"记录数除以批大小并向上取整：{n} / {b} = {s}。",
               "日志显示每一步的 epoch。")


def rate_zero():
    for what, zh in (("stays flat from the first step", "从第一步起保持不变"),
                     ("does not fall and lr is 0", "不下降，lr 是 0"),
                     ("is the same after 100 steps", "在 100 步之后仍然相同")):
        yield (f"The training loss {what}. What do I look at first?", "",
               "Look at the learning rate; with 0 nothing moves.",
               "A step is the gradient times the rate.",
               "The field lr of the log must be above 0.",
               f"训练损失{zh}，应当先看什么？", "",
               "先看学习率；学习率为 0 时什么都不会变。",
               "一步的大小是梯度乘以学习率。",
               "日志的 lr 字段必须大于 0。")


def rate_too_high():
    for r in ("0.1", "0.5", "1"):
        yield (f"With the learning rate {r} the loss jumps up and down. What helps?", "",
               "Lower the learning rate and add warmup.",
               f"Steps of {r} are too large and pass the minimum.",
               "gnorm in the log falls when the rate is right.",
               f"学习率为 {r} 时损失上下跳动，怎样解决？", "",
               "降低学习率，并加入预热。",
               f"{r} 的步子太大，会越过最小值。",
               "学习率合适时，日志中的 gnorm 会下降。")


def warmup():
    for peak, w, s in (("0.001", 10, 5), ("0.002", 20, 5), ("0.004", 40, 10), ("0.001", 100, 50)):
        r = float(peak) * s / w
        yield (f"Peak rate {peak}, warmup {w} steps: what is the rate at step {s}?", "",
               f"The rate is {r:g}.",
               f"Warmup is linear: {peak} x {s} / {w} = {r:g}.",
               "The field lr of the log shows it.",
               f"峰值学习率 {peak}，预热 {w} 步，第 {s} 步的学习率是多少？", "",
               f"学习率是 {r:g}。",
               f"预热是线性的：{peak} x {s} / {w} = {r:g}。",
               "日志的 lr 字段显示它。")


def clipping():
    for c, g in ((1, 4), (1, 2), (2, 8), (1, 10)):
        yield (f"The gradient norm is {g} and clipping is at {c}. What happens?", "",
               f"The gradient is multiplied by {c / g:g}.",
               f"Its norm is brought down to {c}: {c} / {g} = {c / g:g}.",
               "gnorm in the log is the norm before clipping.",
               f"梯度范数是 {g}，裁剪值是 {c}，会怎样？", "",
               f"梯度乘以 {c / g:g}。",
               f"范数降到 {c}：{c} / {g} = {c / g:g}。",
               "日志中的 gnorm 是裁剪之前的范数。")


def loss_mask():
    for what, zh in (("the instruction", "指令"), ("the input", "输入"), ("the padding", "填充")):
        yield (f"Does the loss count the tokens of {what}?", "",
               f"No, {what} is masked with -100.",
               "Only the tokens of the response and its end are trained.",
               "`podium-train inspect-batch` shows what is masked.",
               f"损失会计算{zh}的 token 吗？", "",
               f"不会，{zh}用 -100 屏蔽。",
               "只训练回答的 token 和它的结束符。",
               "`podium-train inspect-batch` 显示哪些被屏蔽。")


def end_token():
    for what, zh in (("never stops", "不会停止"), ("repeats its answer", "重复自己的回答")):
        yield (f"After training the model {what}. Which mistake is likely?", "",
               "The end token was masked as padding.",
               "When padding and end share an id, a mask by id removes both.",
               "Mask by length, so that the end of every response is trained.",
               f"训练之后模型{zh}，可能是什么错误？", "",
               "结束符被当作填充屏蔽了。",
               "填充与结束符的编号相同时，按编号屏蔽会同时去掉两者。",
               "按长度屏蔽，让每个回答的结束符都参与训练。")


def leak():
    for what, zh in (("the same question in other words", "换一种说法的同一问题"),
                     ("a translation of a training record", "训练记录的译文")):
        yield (f"May the validation set hold {what}?", "",
               "No, then validation measures memory.",
               "Records of one template must stay on one side of the split.",
               "Split by template, not by record.",
               f"验证集可以包含{zh}吗？", "",
               "不可以，那样验证测到的只是记忆。",
               "同一模板的记录必须留在划分的同一侧。",
               "按模板划分，而不是按记录划分。")


def overfitting():
    for t, v in (("0.4", "2.1"), ("0.2", "2.8"), ("0.9", "1.7")):
        yield (f"Training loss is {t} and falls, validation loss is {v} and rises. "
               "What is this?", "",
               "This is overfitting.",
               "The model learns the training records by heart.",
               "Keep the adapter of the step with the lowest validation loss.",
               f"训练损失是 {t} 并下降，验证损失是 {v} 并上升，这是什么？", "",
               "这是过拟合。",
               "模型记住了训练记录。",
               "保留验证损失最低那一步的适配器。")


def nan_loss():
    for step in (1, 12, 80):
        yield (f"The loss is NaN at step {step}. What do I do?", "",
               "Stop, lower the learning rate and start from the last checkpoint.",
               "A NaN spreads into every weight, so later steps are worthless.",
               f"Look at gnorm in the steps before {step}.",
               f"第 {step} 步的损失是 NaN，怎么办？", "",
               "停止训练，降低学习率，从上一个检查点开始。",
               "NaN 会扩散到所有权重，后面的步没有意义。",
               f"查看第 {step} 步之前的 gnorm。")


def resume():
    for step in (50, 100, 150):
        yield (f"The Pod was killed after step {step}. How do I go on?", "",
               f"Start again with --resume; it continues from the checkpoint before {step}.",
               "A checkpoint holds weights, optimizer state and step.",
               "The log of the resumed run equals that of an unbroken run.",
               f"Pod 在第 {step} 步之后被杀死，怎样继续？", "",
               f"用 --resume 再次启动，从第 {step} 步之前的检查点继续。",
               "检查点保存权重、优化器状态和步数。",
               "恢复后的日志与未中断的日志相同。")


def seed():
    for s in (1, 7, 42):
        yield (f"Two runs use the seed {s} and the same data. Do they differ?", "",
               "No, both give the same losses.",
               "Order, dropout and first weights follow from the seed.",
               "Compare the loss of every step in the two logs.",
               f"两次训练都使用种子 {s} 和相同的数据，会不同吗？", "",
               "不会，两次的损失相同。",
               "顺序、dropout 和初始权重由种子决定。",
               "比较两份日志中每一步的损失。")


def weights_memory():
    for p, name in ((1, "1"), (3, "3"), (7, "7"), (8, "8")):
        for dtype, b in (("bf16", 2), ("f32", 4)):
            yield (f"How much memory do {name} billion weights need in {dtype}?", "",
                   f"They need {p * b} GB.",
                   f"{dtype} takes {b} bytes a weight: {p} x {b} = {p * b}.",
                   "Add gradients, optimizer state and activations.",
                   f"{name}0 亿个权重用 {dtype} 需要多少内存？", "",
                   f"需要 {p * b} GB。",
                   f"{dtype} 每个权重占 {b} 字节：{p} x {b} = {p * b}。",
                   "还要加上梯度、优化器状态和激活值。")


def adam_memory():
    for n in (1, 4, 10):
        yield (f"How much memory do Adam's moments need for {n} million trainable weights?", "",
               f"They need {8 * n} MB.",
               f"Two f32 moments take 8 bytes a weight: {n} x 8 = {8 * n}.",
               "LoRA is cheap because few weights are trainable.",
               f"{n}00 万个可训练权重，Adam 的矩需要多少内存？", "",
               f"需要 {8 * n} MB。",
               f"两个 f32 矩每个权重占 8 字节：{n} x 8 = {8 * n}。",
               "LoRA 便宜，因为可训练的权重很少。")


def adapter_files():
    for name in ("adapter", "checkpoint-200", "out"):
        yield (f"Which files must the folder {name} of a LoRA adapter hold?", "",
               "adapter_config.json and adapter_model.safetensors.",
               "The first names rank and layers, the second holds A and B.",
               f"`ls {name}` lists both files.",
               f"LoRA 适配器的目录 {name} 中必须有哪些文件？", "",
               "adapter_config.json 和 adapter_model.safetensors。",
               "前者说明秩和层，后者保存 A 和 B。",
               f"`ls {name}` 列出这两个文件。")


def merge():
    for r, a in ((8, 16), (16, 32), (4, 8)):
        yield (f"How is an adapter with rank {r} and alpha {a} merged into the base?", "",
               f"Add {a // r} x B A to each target weight.",
               "The merged layer gives the same output without the adapter.",
               "Merge in f32 and round once.",
               f"秩为 {r}、alpha 为 {a} 的适配器怎样合并到基础模型？", "",
               f"给每个目标权重加上 {a // r} x B A。",
               "合并后的层不需要适配器也给出相同的输出。",
               "用 f32 合并，只舍入一次。")


def perplexity():
    for x in (1.0, 2.0, 3.0, 4.0):
        yield (f"The validation loss is {x:g}. What is the perplexity?", "",
               f"The perplexity is {math.exp(x):.1f}.",
               f"Perplexity is e to the loss: e^{x:g} = {math.exp(x):.1f}.",
               "A lower loss means a lower perplexity.",
               f"验证损失是 {x:g}，困惑度是多少？", "",
               f"困惑度是 {math.exp(x):.1f}。",
               f"困惑度等于 e 的损失次方：e^{x:g} = {math.exp(x):.1f}。",
               "损失越低，困惑度越低。")


def xeon_generation():
    for name, gen, amx, bf16 in (("Ice Lake", 3, False, False), ("Cooper Lake", 3, False, True),
                                 ("Sapphire Rapids", 4, True, True)):
        yield (f"Does a Xeon {name} processor have AMX?", "",
               f"{'Yes' if amx else 'No'}, {name} {'has' if amx else 'has no'} AMX.",
               f"AMX came with generation 4, Sapphire Rapids; {name} is generation {gen}.",
               "The flags amx_tile and amx_bf16 in /proc/cpuinfo show it.",
               f"{name} 至强处理器有 AMX 吗？", "",
               f"{'有' if amx else '没有'}，{name} {'支持' if amx else '不支持'} AMX。",
               f"AMX 从第 4 代 Sapphire Rapids 开始提供；{name} 是第 {gen} 代。",
               "/proc/cpuinfo 的标志 amx_tile 和 amx_bf16 显示它。")
        yield (f"Does a Xeon {name} processor compute in bf16?", "",
               f"{'Yes' if bf16 else 'No'}, {name} {'has' if bf16 else 'has no'} bf16 instructions.",
               "AVX512_BF16 came with Cooper Lake, AMX with Sapphire Rapids.",
               "The flag avx512_bf16 in /proc/cpuinfo shows it.",
               f"{name} 至强处理器能用 bf16 计算吗？", "",
               f"{'能' if bf16 else '不能'}，{name} {'有' if bf16 else '没有'} bf16 指令。",
               "AVX512_BF16 从 Cooper Lake 开始，AMX 从 Sapphire Rapids 开始。",
               "/proc/cpuinfo 的标志 avx512_bf16 显示它。")


def onednn_isa():
    for v in ("AVX512_CORE_AMX", "AVX512_CORE_BF16", "AVX2"):
        yield (f"What does ONEDNN_MAX_CPU_ISA={v} do?", "",
               f"oneDNN uses nothing above {v}.",
               "The variable is an upper limit; it never adds instructions.",
               "ONEDNN_VERBOSE=1 prints what is used.",
               f"ONEDNN_MAX_CPU_ISA={v} 的作用是什么？", "",
               f"oneDNN 不会使用高于 {v} 的指令。",
               "该变量是上限，不会增加指令。",
               "ONEDNN_VERBOSE=1 打印实际使用的指令。")


def ipex():
    for what in ("IPEX", "torch-ccl"):
        modern, zh = (("stock PyTorch", "原版 PyTorch") if what == "IPEX" else
                      ("DDP with gloo", "使用 gloo 的 DDP"))
        yield (f"Should a new project on Xeon use {what}?", "",
               f"No, use {modern}.",
               f"{what} is archived and gets no more fixes.",
               "Start the processes with torchrun.",
               f"至强上的新项目应当使用 {what} 吗？", "",
               f"不应当，请使用{zh}。",
               f"{what} 已经归档，不再修复。",
               "用 torchrun 启动进程。")


def static_cpu():
    for cpu, ok in (("4", True), ("3.5", False), ("8", True), ("1500m", False)):
        yield (f"Does the static CPU manager give a Guaranteed Pod with cpu {cpu} its own CPUs?",
               "",
               "Yes, they are exclusive." if ok else "No, it shares the CPUs.",
               f"Exclusive CPUs need a whole number, and {cpu} is "
               f"{'one' if ok else 'none'}.",
               "Cpus_allowed_list in /proc/self/status shows the set.",
               f"静态 CPU 管理器会给 cpu 为 {cpu} 的 Guaranteed Pod 分配独占 CPU 吗？", "",
               "会，它们是独占的。" if ok else "不会，它使用共享的 CPU。",
               f"独占 CPU 需要整数，而 {cpu} {'是' if ok else '不是'}整数。",
               "/proc/self/status 的 Cpus_allowed_list 显示集合。")


def omp_threads():
    for n in (4, 8, 28):
        yield (f"A container may use {n} physical cores. What is OMP_NUM_THREADS?", "",
               f"Set OMP_NUM_THREADS={n}.",
               "One thread a physical core of the container, not of the host.",
               "`nproc` in the container shows the CPUs it may use.",
               f"容器可以使用 {n} 个物理核，OMP_NUM_THREADS 设为多少？", "",
               f"设置 OMP_NUM_THREADS={n}。",
               "容器的每个物理核一个线程，而不是主机的。",
               "容器中的 `nproc` 显示可用的 CPU。")


def cuda_driver():
    for text, en, zh in (
            ("CUDA driver version is insufficient for CUDA runtime version",
             "The driver is older than the CUDA of the image.", "驱动比镜像的 CUDA 旧。"),
            ("no CUDA-capable device is detected",
             "The container got no card.", "容器没有得到卡。"),
            ("no kernel image is available for execution on the device",
             "The program was not built for this card.", "程序不是为这张卡构建的。")):
        yield ("Explain this CUDA error.", text, en,
               "Driver, card and image must fit together.",
               "`nvidia-smi` shows the newest CUDA that the driver supports.",
               "解释这条 CUDA 错误。", text, zh,
               "驱动、卡和镜像必须匹配。",
               "`nvidia-smi` 显示驱动支持的最新 CUDA。")


def gaudi_acquire():
    for n, en, zh in (("20 [Device already acquired]", "Another process already holds the card.",
                       "另一个进程已经占用该卡。"),
                      ("26 [Generic failure]", "The card could not be opened.", "无法打开该卡。")):
        yield ("Explain this Gaudi error.", f"synStatus={n} Device acquire failed.", en,
               "A Gaudi card belongs to one process at a time.",
               "`hl-smi` shows the processes of every card.",
               "解释这条 Gaudi 错误。", f"synStatus={n} Device acquire failed.", zh,
               "一张 Gaudi 卡同一时间只属于一个进程。",
               "`hl-smi` 显示每张卡上的进程。")


def tools():
    for who, tool in (("Gaudi", "hl-smi"), ("NVIDIA", "nvidia-smi")):
        for what, zh in (("the memory in use", "已用内存"), ("the driver version", "驱动版本"),
                         ("the utilization", "利用率")):
            yield (f"Which program shows {what} of a {who} card?", "",
                   f"Run `{tool}`.",
                   f"{tool} reads {what} from the {who} driver.",
                   f"In a Pod: `kubectl exec` and then `{tool}`.",
                   f"哪个程序显示 {who} 卡的{zh}？", "",
                   f"运行 `{tool}`。",
                   f"{tool} 从 {who} 驱动读取{zh}。",
                   f"在 Pod 中：先 `kubectl exec`，再运行 `{tool}`。")


def metrics():
    for who, what, zh, name, port in (
            ("Gaudi", "utilization", "利用率", "habanalabs_utilization", 41611),
            ("Gaudi", "used memory", "已用内存", "habanalabs_memory_used_bytes", 41611),
            ("NVIDIA", "utilization", "利用率", "DCGM_FI_DEV_GPU_UTIL", 9400),
            ("NVIDIA", "used memory", "已用内存", "DCGM_FI_DEV_FB_USED", 9400)):
        yield (f"Which metric is the {what} of a {who} card?", "",
               f"The metric is `{name}`.",
               f"The {who} exporter serves it on port {port}.",
               f"`curl` of port {port} and path /metrics shows the value.",
               f"{who} 卡的{zh}是哪个指标？", "",
               f"指标是 `{name}`。",
               f"{who} 的导出器在端口 {port} 提供它。",
               f"用 `curl` 访问端口 {port} 的 /metrics 可以看到数值。")


def hugging_face():
    for code, en, zh in ((401, "The token is missing or the model id is wrong.",
                          "缺少令牌，或者模型名称错误。"),
                         (403, "The token is known but has no access to this model.",
                          "令牌有效，但没有访问该模型的权限。")):
        yield (f"The download of a model answers {code}. Why?", "", en,
               "First check the id, then the token, then the grant.",
               "`hf auth whoami` shows the user of the token.",
               f"下载模型返回 {code}，为什么？", "", zh,
               "先检查名称，再检查令牌，最后检查授权。",
               "`hf auth whoami` 显示令牌的用户。")


def token_secret():
    for name in ("hf-token", "hub-login"):
        yield (f"How do I store a token in the Secret {name} without a stray newline?", "",
               f"Run `kubectl create secret generic {name} --from-file=token`.",
               "kubectl encodes the value once; base64 by hand is easily done twice.",
               f"`kubectl get secret {name}` shows the number of keys only.",
               f"怎样把令牌存入 Secret {name} 而不带多余的换行？", "",
               f"运行 `kubectl create secret generic {name} --from-file=token`。",
               "kubectl 只编码一次；手工 base64 容易编码两次。",
               f"`kubectl get secret {name}` 只显示键的数量。")


def accumulate():
    for a in (2, 4, 8):
        yield (f"Memory is short. What does accumulation {a} do?", "",
               f"It adds the gradients of {a} small batches before a step.",
               "The step is that of a large batch, the memory that of a small one.",
               "Weight by tokens, so that the sum equals the large batch.",
               f"内存不足，梯度累积 {a} 的作用是什么？", "",
               f"在一次更新之前累加 {a} 个小批的梯度。",
               "更新等于大批的更新，内存只是小批的内存。",
               "按 token 加权，使总和等于大批。")


TOPICS = [lora_scale, lora_parameters, lora_targets, lora_b_zero, effective_batch, steps_per_epoch,
          rate_zero, rate_too_high, warmup, clipping, loss_mask, end_token, leak, overfitting,
          nan_loss, resume, seed, weights_memory, adam_memory, adapter_files, merge, perplexity,
          xeon_generation, onednn_isa, ipex, static_cpu, omp_threads, cuda_driver, gaudi_acquire,
          tools, metrics, hugging_face, token_secret, accumulate]
