"""The vocabulary: every quantity of the project, declared once. One letter, one meaning.

Where the run file has a key for a quantity, the Python name is that key. Durations are seconds, money is US dollars,
sizes are bytes; units in the names of the edges say so again.
"""

from __future__ import annotations

from rlecon.quantity import constant, heading, quantity

heading("Constants of counting")
flops_per_parameter = constant("flops_per_parameter", "2", 2.0, "FLOP/token", "one multiply and one add per parameter")
seconds_per_hour = constant("seconds_per_hour", "3600", 3600.0, "s/h", "seconds in an hour")
bits_per_byte = constant("bits_per_byte", "8", 8.0, "bit/byte", "bits in a byte")
slope_factor = constant("slope_factor", "12", 12.0, "1", "a slope through t even points has 12 times their variance over t cubed")
one_token = constant("one_token", "1", 1.0, "token", "the token that one decode step adds to each sequence")
one_bit = constant("one_bit", "1", 1.0, "bit", "the bit: the unit of base-2 logarithms")
one_second = constant("one_second", "1", 1.0, "s", "unit of time, to take logarithms of durations")
one_turn = constant("one_turn", "1", 1.0, "turn", "the last turn of a trajectory, after which no answer is read")

heading("Learning: pass rates, groups, signal")
pass_rate = quantity("pass_rate", "p", "1", "probability that one rollout of a prompt is right", "[0,1]")
fail_rate = quantity("fail_rate", "q", "1", "1 - p", "[0,1]")
mean_pass_rate = quantity("mean_pass_rate", r"\bar p", "1", "mean of p over prompts", "[0,1]")
pass_rate_spread = quantity("pass_rate_spread", r"\sigma_p", "1", "standard deviation of p over prompts", "[0,0.5]")
beta_successes = quantity("beta_successes", r"\beta_1", "1", "first parameter of the Beta distribution of p", "(0,inf)")
beta_failures = quantity("beta_failures", r"\beta_2", "1", "second parameter of the Beta distribution of p", "(0,inf)")
group_size = quantity("group_size", "G", "rollout/prompt", "rollouts per prompt in one step", "Z[1,inf)")
prompts_per_step = quantity("prompts_per_step", "B", "prompt", "prompts in one step", "Z[1,inf)")
rollouts = quantity("rollouts", "n", "rollout", "rollouts trained on in one step", "(0,inf)")
started_rollouts = quantity("started_rollouts", r"n_{\omega}", "rollout", "rollouts generated in one step", "(0,inf)")
oversampling = quantity("oversampling", r"\omega", "1", "rollouts started per rollout trained on", "[1,inf)")
pass_variance = quantity("pass_variance", r"\mathrm{E}[pq]", "1", "mean over prompts of p (1 - p)", "[0,0.25]")
mixed_group_share = quantity("mixed_group_share", r"\mathrm{Pr}_{\mathrm{mixed}}", "1",
                             "share of groups with both a right and a wrong rollout", "[0,1]")
mixed_groups_per_step = quantity("mixed_groups_per_step", r"n_{\mathrm{mixed}}", "group", "mixed groups in one step")
dynamic_sampling = quantity("dynamic_sampling", r"1_{\mathrm{dyn}}", "1",
                            "1 where flat groups are discarded and replaced (dynamic sampling)", "[0,1]")
signal_per_step = quantity("signal_per_step", r"\Sigma_{\mathrm{step}}", "1",
                           "signal of one step in units of the squared logit sensitivity over the score dimension")
entropy_bits = quantity("entropy_bits", "H", "bit", "binary entropy of the pass rate", "[0,1]")
bits_per_rollout = quantity("bits_per_rollout", r"\bar H", "bit/rollout",
                            "most bits that the reward of one rollout can carry, mean over prompts", "[0,inf)")
bits_per_step = quantity("bits_per_step", r"H_{\mathrm{step}}", "bit/step", "most bits that the rewards of a step carry")
bits_per_token = quantity("bits_per_token", r"H_{\mathrm{tok}}", "bit/token", "most reward bits per generated token")

heading("Learning: hardness, groups, filtering")
score_dimension = quantity("score_dimension", "d", "1", "dimensions of the score of one rollout", "[1,inf)")
signal_to_noise = quantity("signal_to_noise", r"\mathrm{SNR}", "1", "squared signal over noise of one rollout's gradient")
curvature = quantity("curvature", r"\mathrm{curv}", "1", "curvature that limits a step: of a KL penalty, or of the objective", "(0,inf)")
step_gain = quantity("step_gain", r"\delta p_{\mathrm{step}}", "1", "gain in pass rate of one noise-limited step of the best size")
log_step_gain = quantity("log_step_gain", r"\delta\ln p_{\mathrm{step}}", "1",
                         "gain in log pass rate of one noise-limited step of the best size")
confidence = quantity("confidence", r"\mathrm{conf}", "1", "chance with which a statement should hold", "(0,1)")
rollouts_per_success = quantity("rollouts_per_success", r"n_{\mathrm{first}}", "rollout", "mean wait for a right rollout", "(0,inf]")
rollouts_to_sure_success = quantity("rollouts_to_sure_success", r"n_{\mathrm{sure}}", "rollout",
                                    "rollouts that hold a right one with the given confidence")
rollouts_to_both = quantity("rollouts_to_both", r"n_{\mathrm{both}}", "rollout", "mean wait until a right and a wrong rollout are seen")
rollouts_to_certify = quantity("rollouts_to_certify", r"n_{\mathrm{cert}}", "rollout",
                               "straight passes that show a pass rate above the given one")
prompt_variance = quantity("prompt_variance", "pq", "1", "variance of the reward of one prompt", "[0,0.25]")
reward_sd = quantity("reward_sd", r"\sqrt{pq}", "1", "standard deviation of the reward of one prompt")
pass_odds = quantity("pass_odds", r"o_p", "1", "odds of a right rollout")
threshold_information = quantity("threshold_information", r"I_{\Phi}", "1",
                                 "squared slope of p over its variance where a normal skill must pass a threshold")
rollouts_per_mixed_group = quantity("rollouts_per_mixed_group", r"n_{/\mathrm{mixed}}", "rollout", "rollouts per mixed group", "(0,inf]")
rollouts_per_signal = quantity("rollouts_per_signal", r"n_{/\mathrm{SNR}}", "rollout",
                               "rollouts per unit of within-prompt signal", "(0,inf]")
marginal_value = quantity("marginal_value", r"\mu", "1/rollout", "gain in the chance of a mixed group from one more rollout")
kept_pass_rate = quantity("kept_pass_rate", r"\mathrm{E}[\hat p\,|\,\mathrm{mixed}]", "1", "mean success share inside mixed groups", "[0,1]")
filtering_gain = quantity("filtering_gain", r"\nu_{\mathrm{filter}}", "1", "learning rate over that without filtering", "[1,inf]")
pass_variance_square = quantity("pass_variance_square", r"\mathrm{E}[(pq)^2]", "1", "mean over prompts of (p q)^2")
within_prompt_sd = quantity("within_prompt_sd", r"\sigma_w", "1", "standard deviation of the gradient of one rollout, prompt fixed", "(0,inf)")
between_prompt_sd = quantity("between_prompt_sd", r"\sigma_b", "1", "standard deviation of the mean gradient between prompts", "(0,inf)")
even_noise_ratio = quantity("even_noise_ratio", r"\nu_{w,1/2}", "1",
                            "within over between sd where every prompt is solved half of the time", "(0,inf)")
noise_ratio = quantity("noise_ratio", r"\nu_{w}", "1", "within over between sd of the gradient", "(0,inf)")
group_variance = quantity("group_variance", r"\mathrm{Var}_G", "1", "gradient variance of one group, per dimension of the score")
gradient_variance = quantity("gradient_variance", r"\mathrm{Var}", "1", "variance of the gradient of one step")
variance_ratio = quantity("variance_ratio", r"\nu_{\mathrm{Var}}", "1", "within-prompt variance over that of pairs, prompt fixed")
best_group_size = quantity("best_group_size", r"G^\ast", "rollout/prompt", "group size of least variance per dollar")
usd_per_rollout = quantity("usd_per_rollout", r"c_n", "USD/rollout", "one rollout, all included", "(0,inf)")
usd_per_prompt_visit = quantity("usd_per_prompt_visit", r"c_B", "USD/prompt", "visiting a prompt once: prefill, container")
variance_usd = quantity("variance_usd", r"c\,\mathrm{Var}", "USD", "dollars of a step times its gradient variance")
cost_over_least = quantity("cost_over_least", r"\nu_{c\mathrm{Var}}", "1", "dollars times variance over the least that any group size gives")
objective_weight = quantity("objective_weight", r"h_G", "1",
                            "weight on the gradient of p where advantages are divided by the group's standard deviation")
tasks = quantity("tasks", "K", "task", "tasks (prompts) in the set", "[1,inf)")
shared_share = quantity("shared_share", r"\chi", "1", "share of the variance of right behavior that all tasks have in common", "(0,1)")
aligned_share = quantity("aligned_share", r"\chi_K", "1",
                         "squared correlation of what K tasks teach in common with what all tasks share", "(0,1)")
transfer_correlation = quantity("transfer_correlation", r"r_K", "1",
                                "correlation of what K tasks teach in common with a task never trained on", "(0,1)")

heading("Learning: density of reward, credit, horizon")
dichotomisation_efficiency = quantity("dichotomisation_efficiency", r"\mathrm{ARE}", "1",
                                      "share of a graded score's information that pass or fail keeps", "[0,1]")
step_success = quantity("step_success", r"\rho", "1", "probability that one decision step is right", "(0,1)")
credit_gain = quantity("credit_gain", r"\nu_{\mathrm{credit}}", "1",
                       "signal per trajectory with rewards of steps over that with one terminal reward")
actions = quantity("actions", "a", "1", "choices per decision", "[1,inf)")
effective_horizon = quantity("effective_horizon", r"T_{\mathrm{eff}}", "1", "lookahead that separates good from bad actions")
exploration_rollouts = quantity("exploration_rollouts", r"n_{\mathrm{explore}}", "rollout", "trajectories to find the way")
decisions = quantity("decisions", r"n_T", "1", "decision steps taken until the first right trajectory")
decision_ratio = quantity("decision_ratio", r"\nu_T", "1", "decision steps with outcome reward over those with process reward")
time_exponent = quantity("time_exponent", r"\epsilon_T", "1", "power of human time that tokens follow between two points")
elapsed_days = quantity("elapsed_days", r"t_{\mathrm{day}}", "day", "days from now", "[0,inf)")
doubling_days = quantity("doubling_days", r"t_2", "day", "doubling time of the length of task that models manage", "(0,inf)")
price_halving_days = quantity("price_halving_days", r"t_c", "day", "halving time of the price of a token of training", "(0,inf)")
even_halving_days = quantity("even_halving_days", r"t_c^\ast", "day",
                             "halving time of the price of a token at which bits per dollar stay as they are")
horizon_ratio = quantity("horizon_ratio", r"\nu_{\mathrm{hor}}", "1", "length of task that models manage, later over now", "(0,inf)")
token_price_ratio = quantity("token_price_ratio", r"\nu_{\mathrm{tok}}", "1", "price of a token of training, later over now", "(0,inf)")
reward_bits_ratio = quantity("reward_bits_ratio", r"\nu_H", "1", "bits that one trajectory's rewards carry, later over now", "(0,inf)")
bits_per_usd_ratio = quantity("bits_per_usd_ratio", r"\nu_{H/c}", "1", "most bits per dollar of training, later over now")
long_tokens = quantity("long_tokens", r"L_1", "token", "tokens of the longer task", "(0,inf)")
short_tokens = quantity("short_tokens", r"L_0", "token", "tokens of the shorter task", "(0,inf)")
long_seconds = quantity("long_seconds", r"\tau_1", "s", "human time of the longer task", "(0,inf)")
short_seconds = quantity("short_seconds", r"\tau_0^{\mathrm{human}}", "s", "human time of the shorter task", "(0,inf)")
teacher_parameters = quantity("teacher_parameters", r"N_{\mathrm{teach}}", "parameter", "parameters that the teacher uses per token", "(0,inf)")
distillation_flops_ratio = quantity("distillation_flops_ratio", r"\nu_{\mathrm{OPD}}", "1",
                                    "FLOPs to equal progress, on-policy distillation over RL")
break_even_teacher_parameters = quantity("break_even_teacher_parameters", r"N_{\mathrm{teach}}^\ast", "parameter",
                                         "parameters of the teacher whose FLOPs eat the saving")

heading("Verifiers")
verifier_rollouts_factor = quantity("verifier_rollouts_factor", r"\nu_{J}", "1", "rollouts over those with a perfect verifier, signal equal")
verifier_gradient_factor = quantity("verifier_gradient_factor", r"\nu_{\mathrm{grad}}", "1",
                                    "gradient of a prompt over that with a perfect verifier", "[-1,1]")
verifier_precision = quantity("verifier_precision", r"\mathrm{prec}", "1", "share of accepted rollouts that are right", "[0,1]")
verifiers = quantity("verifiers", "V", "verifier", "verifiers that vote", "Z[1,inf)")
majority_false_positive_rate = quantity("majority_false_positive_rate", r"f_{+,\mathrm{maj}}", "1",
                                        "chance that the majority of very many verifiers accepts a wrong answer", "[0,1]")
common_cause = quantity("common_cause", r"\rho_V", "1", "chance that all verifiers copy one verdict: their correlation given the truth", "[0,1]")

heading("Steps to a target")
pass_logit = quantity("pass_logit", r"\ell", "1", "ln(p/q)", "(-inf,inf)")
objective_clock = quantity("objective_clock", r"\Psi", "1", "integral of dp/(p q g): grows evenly with steps", "(-inf,inf)")
start_clock = quantity("start_clock", r"\Psi(p_0)", "1", "clock at the start", "(-inf,inf)")
target_clock = quantity("target_clock", r"\Psi(p_1)", "1", "clock at the target", "(-inf,inf)")
drift_shape = quantity("drift_shape", "g(p)", "1", "how the drift of the logit depends on p")
drive = quantity("drive", r"\lambda", "1/step", "logit drift per step divided by its shape", "(0,inf)")
logit_per_step = quantity("logit_per_step", r"\delta", "1/step", "logit drift per step")
steps_if_mean = quantity("steps_if_mean", r"S_{\mathrm{mean}}", "step", "steps to the target, ascent on mean success", "(0,inf)")
steps_if_grpo = quantity("steps_if_grpo", r"S_{\mathrm{grpo}}", "step", "steps to the target, advantages over the group's deviation", "(0,inf)")
steps_if_log = quantity("steps_if_log", r"S_{\log}", "step", "steps to the target, ascent on log p", "(0,inf)")
steps_if_even = quantity("steps_if_even", r"S_{\ell}", "step", "steps to the target, logit drifts evenly", "(0,inf)")
fewest_target_steps = quantity("fewest_target_steps", r"S_{\min}", "step", "steps to the target by the fastest of four clocks", "(0,inf)")
most_target_steps = quantity("most_target_steps", r"S_{\max}", "step", "steps to the target by the slowest of four clocks", "(0,inf)")
target_usd_low = quantity("target_usd_low", r"\$_{S,\min}", "USD", "dollars to the target by the fastest of four clocks", "[0,inf)")
target_usd_high = quantity("target_usd_high", r"\$_{S,\max}", "USD", "dollars to the target by the slowest of four clocks", "[0,inf)")
pilot_steps = quantity("pilot_steps", r"t_{\mathrm p}", "step", "steps of a pilot log")
mean_reward_variance = quantity("mean_reward_variance", r"\mathrm{Var}(\bar r)", "1", "variance of the mean reward of one step")
normal_deviate = quantity("normal_deviate", "z", "1", "standard normal quantile of the confidence")
asymptotic_pass_rate = quantity("asymptotic_pass_rate", r"p_\infty", "1", "ceiling of a saturating curve", "(0,1]")
gain_fraction = quantity("gain_fraction", "f", "1", "(p - p_0)/(p_inf - p_0)", "(0,1)")
scaling_exponent = quantity("scaling_exponent", r"\zeta", "1", "exponent of the gain odds", "(0,inf)")
compute_gpu_hours = quantity("compute_gpu_hours", "C", "GPU h", "training compute", "(0,inf)")
half_gain_gpu_hours = quantity("half_gain_gpu_hours", r"C_{1/2}", "GPU h", "compute at half of the gain", "(0,inf)")
half_gain_steps = quantity("half_gain_steps", r"t_{1/2}", "step", "steps at half of the gain", "(0,inf)")
compute_ratio = quantity("compute_ratio", r"\nu_C", "1", "compute from half of the gain to the given fraction, as a ratio")
midpoint_slope = quantity("midpoint_slope", r"s_{1/2}", "1", "gain in pass rate per e-fold of compute at half of the gain")
accuracy_exponent = quantity("accuracy_exponent", r"\zeta_p", "1", "d ln(p/q) / d ln C at half of the gain")
response_growth_per_step = quantity("response_growth_per_step", r"\gamma", "1/step", "relative growth of response length", "(-1,inf)")
length_share = quantity("length_share", r"\xi_L", "1", "share of a step's bill that grows with length", "[0,1]")
usd_to_target = quantity("usd_to_target", r"c_{\mathrm{target}}", "USD", "dollars until the target pass rate")

heading("Capability, levers")
usd_per_signal = quantity("usd_per_signal", r"c_{\mathrm{SNR}}", "USD", "tokens' dollars per unit of signal", "(0,inf)")
price_ratio = quantity("price_ratio", r"\nu_{\mathrm{usd}}", "1", "price of the stronger model over that of the base", "(0,inf)")
odds_ratio = quantity("odds_ratio", r"\nu_{\mathrm{odds}}", "1", "odds of the stronger model over those of the base", "(0,inf)")
break_even_price_ratio = quantity("break_even_price_ratio", r"\nu_{\mathrm{usd}}^\ast", "1", "price ratio at which the stronger model breaks even")
break_even_pass_rate = quantity("break_even_pass_rate", r"p^\ast", "1", "base pass rate below which the stronger model pays", "[0,1]")
other_share = quantity("other_share", r"1-\xi", "1", "share of step time outside rollout", "[0,1]")
rollout_speedup = quantity("rollout_speedup", r"\psi_{\mathrm r}", "1", "old over new time of rollout", "(0,inf)")
training_speedup = quantity("training_speedup", r"\psi_{\mathrm t}", "1", "old over new time of the rest", "(0,inf)")
speedup = quantity("speedup", r"\psi", "1", "old over new time of a step", "(0,inf)")
speedup_cap = quantity("speedup_cap", r"\psi_{\max}", "1", "speedup that a rollout-only lever cannot pass", "[1,inf]")
dollar_gain = quantity("dollar_gain", r"\psi_{\mathrm{usd}}", "1", "dollars of a step, old over new", "(0,inf)")

heading("Staleness, capacity")
log_ratio_sd = quantity("log_ratio_sd", r"\sigma_r", "1", "sd of the per-token log-ratio of two policies", "[0,inf)")
ratio_tokens = quantity("ratio_tokens", r"L_{\mathrm{iw}}", "1", "tokens whose log-ratios add up in one weight", "[1,inf)")
ess_share = quantity("ess_share", r"\mathrm{ess}", "1", "effective share of the rollouts after weighting", "[0,1]")
importance_cap = quantity("importance_cap", r"\mathrm{iw}_{\max}", "1", "cap on importance weights", "(0,inf)")
weight_log_sd = quantity("weight_log_sd", r"\sigma_{\mathrm{iw}}", "1", "sd of the log of one importance weight", "(0,inf)")
truncation_bias = quantity("truncation_bias", r"\mathrm{E}[(\mathrm{iw}-\mathrm{iw}_{\max})_+]", "1",
                           "weight that truncation removes, of a mean of 1", "[0,1]")
bits_per_parameter = quantity("bits_per_parameter", r"\mathrm{bits}_{\mathrm{ad}}", "bit", "bits that one parameter of an adapter stores", "(0,inf)")
supplied_bits = quantity("supplied_bits", r"I_{\mathrm{run}}", "bit", "most reward bits of a run", "(0,inf)")
capacity_ratio = quantity("capacity_ratio", r"\nu_{\mathrm{cap}}", "1", "bits that an adapter stores over bits that a run supplies")

heading("Tenants of one base model")
tenants = quantity("tenants", "m", "1", "LoRA jobs that share one base model and its GPUs", "Z[1,inf)")
duty_cycle = quantity("duty_cycle", "y", "1", "share of time that a tenant is active", "(0,1]")
active_tenants = quantity("active_tenants", r"m_{\mathrm{act}}", "1", "tenants active at once, not exceeded 99 % of the time", "Z[1,inf)")
adapter_bytes = quantity("adapter_bytes", r"W_{\mathrm{ad}}", "byte", "weight bytes of one adapter")
held_adapter_bytes = quantity("held_adapter_bytes", r"W_{\mathrm{ad,all}}", "byte", "adapters that an engine holds and reads beside the base; 0 where one is merged into it")
base_weight_bytes = quantity("base_weight_bytes", r"W_{\mathrm{base}}", "byte", "weight bytes of the base model that one decode step reads", "(0,inf)")
tenant_sequences = quantity("tenant_sequences", r"b_{\mathrm{ten}}", "sequence", "sequences that each active tenant decodes at once", "(0,inf)")
tenant_room_bytes = quantity("tenant_room_bytes", r"M_{\mathrm{ten}}", "byte", "memory for caches and adapters of all active tenants", "(0,inf)")
most_tenants = quantity("most_tenants", r"m_{\max}", "1", "active tenants whose caches and adapters the memory holds")
sharing_gain = quantity("sharing_gain", r"\psi_{\mathrm{base}}", "1", "bytes read per tenant, alone over shared", "(0,inf)")
sharing_limit = quantity("sharing_limit", r"\psi_{\mathrm{base},\infty}", "1", "the same for endlessly many tenants with small adapters", "[1,inf)")
pooling_gain = quantity("pooling_gain", r"\psi_{\mathrm{pool}}", "1", "GPUs of tenants that each keep their own, over those of a pool", "(0,inf)")
lora_flops_ratio = quantity("lora_flops_ratio", r"\nu_{\mathrm{LoRA}}", "1", "FLOPs of training an adapter over those of training all weights", "(0,1]")

heading("Environments built")
pipeline_usd = quantity("pipeline_usd", r"c_{\mathrm{fix}}", "USD", "fixed cost of a building pipeline")
usd_per_attempted_task = quantity("usd_per_attempted_task", r"c_{\mathrm{try}}", "USD/task", "cost of one attempted task")
attempted_tasks = quantity("attempted_tasks", r"K_{\mathrm{try}}", "task", "attempted tasks", "(0,inf)")
valid_task_share = quantity("valid_task_share", r"\eta_{\mathrm{valid}}", "1", "attempted tasks that build and verify", "(0,1]")
mixed_task_share = quantity("mixed_task_share", r"\eta_{\mathrm{mixed}}", "1", "valid tasks that give mixed groups now", "(0,1]")
usd_per_usable_task = quantity("usd_per_usable_task", r"c_K", "USD/task", "building one usable task", "(0,inf)")
task_usd_per_run = quantity("task_usd_per_run", r"c_{K,R}", "USD/run", "one run's share of the tasks")
rollouts_per_task = quantity("rollouts_per_task", r"n_K", "rollout/task", "rollouts per task of least variance per dollar")
build_share = quantity("build_share", r"\xi_{\mathrm{build}}", "1", "share of tasks in what a run costs", "[0,1]")
queries = quantity("queries", "Q", "query", "answers served after training")
extra_tokens = quantity("extra_tokens", r"L_{\mathrm{extra}}", "token", "tokens per answer added by training", "[0,inf)")
break_even_queries = quantity("break_even_queries", r"Q^\ast", "query", "answers after which serving, or training, has paid", "(0,inf]")
equivalent_samples = quantity("equivalent_samples", r"n_{\mathrm{eq}}", "1", "tries with a perfect verifier that equal a training gain")
run_bill_usd = quantity("run_bill_usd", r"c_{\mathrm{GPU}}", "USD", "GPU bill of one run", "(0,inf)")
served_token_usd = quantity("served_token_usd", r"c_{\mathrm{srv}}", "USD/token", "price of a served token", "(0,inf)")

heading("Information: ladders of bits, supply and demand")
false_positive_rate = quantity("false_positive_rate", r"f_{+}", "1", "chance that the verifier accepts a wrong answer", "[0,1]")
false_negative_rate = quantity("false_negative_rate", r"f_{-}", "1", "chance that the verifier rejects a right answer", "[0,1]")
observed_pass_rate = quantity("observed_pass_rate", r"\tilde p", "1", "share of rollouts that the verifier accepts", "[0,1]")
youden_index = quantity("youden_index", "J", "1", "1 minus both error rates of the verifier", "[-1,1]")
information_bits = quantity("information_bits", "I", "bit", "mutual information of one rollout's reward and the unknown")
success_bits = quantity("success_bits", r"H_{\mathrm{win}}", "bit", "bits that reach a learner who keeps successes only", "[0,1]")
levels = quantity("levels", "v", "1", "number of levels of a graded reward", "Z[1,inf)")
reward_snr = quantity("reward_snr", r"\mathrm{SNR}_r", "1", "variance of a graded reward over the variance of its noise")
logit_sensitivity = quantity("logit_sensitivity", r"\Delta", "1",
                             "change of the logit of p per unit step along the gradient of p")
start_pass_rate = quantity("start_pass_rate", "p_0", "1", "pass rate at the start; for demand, of the best reward-blind policy",
                           "(0,1)")
target_pass_rate = quantity("target_pass_rate", "p_1", "1", "pass rate aimed at", "[0,1]")
binary_divergence_bits = quantity("binary_divergence_bits", r"\mathrm{kl}(p_1\,\|\,p_0)", "bit",
                                  "fewest bits that lift the pass rate from the start to the target")
fewest_rollouts = quantity("fewest_rollouts", r"n_{\min}", "rollout", "fewest rollouts whose reward bits cover the demand")
tokens_per_bit = quantity("tokens_per_bit", r"L_{\mathrm{bit}}", "token/bit", "generated tokens per bit of reward, at the ceiling", "(0,inf]")
vocabulary_size = quantity("vocabulary_size", r"n_V", "1", "entries of the vocabulary", "[1,inf)")
vocabulary_bits_per_token = quantity("vocabulary_bits_per_token", r"H_V", "bit/token", "bits that name one token of the vocabulary")
pretraining_tokens = quantity("pretraining_tokens", "D", "token", "pre-training tokens", "(0,inf]")
loss_scale_parameters = quantity("loss_scale_parameters", r"a_N", "nat", "coefficient of the loss law, parameters")
loss_scale_tokens = quantity("loss_scale_tokens", r"a_D", "nat", "coefficient of the loss law, tokens")
loss_exponent_parameters = quantity("loss_exponent_parameters", r"\alpha_N", "1", "exponent of the loss law, parameters", "(0,inf)")
loss_exponent_tokens = quantity("loss_exponent_tokens", r"\alpha_D", "1", "exponent of the loss law, tokens", "(0,1)")
irreducible_loss_nats = quantity("irreducible_loss_nats", r"\mathrm{loss}_\infty", "nat",
                                 "loss of the law for infinite parameters and tokens")
loss_bits_per_token = quantity("loss_bits_per_token", r"\mathrm{loss}", "bit/token", "cross-entropy of the next token")
reducible_bits_per_token = quantity("reducible_bits_per_token", r"\mathrm{loss}_{\mathrm{red}}", "bit/token",
                                    "part of the loss that more parameters or tokens would remove")
learned_bits_per_token = quantity("learned_bits_per_token", r"I_{\mathrm{fin}}", "bit/token",
                                  "area of the loss curve above its final value, per token")
learned_limit_bits_per_token = quantity("learned_limit_bits_per_token", r"I_{\infty}", "bit/token",
                                        "area of the loss curve above its value for infinite data, per token")
capacity_bits_per_parameter = quantity("capacity_bits_per_parameter", r"I_N", "bit/parameter", "measured bits that one parameter stores")
stored_bits_per_token = quantity("stored_bits_per_token", r"I_{\mathrm{store}}", "bit/token",
                                 "measured capacity of the weights per training token")
scoring_passes = quantity("scoring_passes", r"n_{\mathrm{score}}", "1",
                          "forward passes that score a rollout before the update (old policy, reference model)", "[0,inf)")
pretraining_mfu = quantity("pretraining_mfu", r"\mathrm{MFU}_{\mathrm{pre}}", "1", "model-FLOPs utilisation of pre-training", "(0,1]")
rl_flops_per_token = quantity("rl_flops_per_token", r"f_{\mathrm{RL}}", "FLOP/token",
                              "FLOPs to generate, score and learn from one token", "(0,inf)")
pretraining_flops_per_token = quantity("pretraining_flops_per_token", r"f_{\mathrm{pre}}", "FLOP/token",
                                       "FLOPs to learn from one token of text", "(0,inf)")
rl_gpu_seconds_per_token = quantity("rl_gpu_seconds_per_token", r"\tau_{\mathrm{RL}}", "s/token",
                                    "GPU-seconds to generate, score and learn from one token", "(0,inf)")
pretraining_gpu_seconds_per_token = quantity("pretraining_gpu_seconds_per_token", r"\tau_{\mathrm{pt}}", "s/token",
                                             "GPU-seconds to learn from one token of text", "(0,inf)")
flops_ratio_per_token = quantity("flops_ratio_per_token", r"\nu_{f}", "1",
                                 "FLOPs of an RL token over those of a pre-training token")
gpu_time_ratio_per_token = quantity("gpu_time_ratio_per_token", r"\nu_{\tau}", "1",
                                    "GPU time of an RL token over that of a pre-training token")
bits_per_flop = quantity("bits_per_flop", r"H_{\mathrm{FLOP}}", "bit/FLOP", "most reward bits per FLOP of RL")
bits_per_gpu_hour = quantity("bits_per_gpu_hour", r"H_{\mathrm{h}}", "bit/(GPU h)", "most reward bits per GPU-hour of RL")
bits_per_usd = quantity("bits_per_usd", r"H_{\mathrm{USD}}", "bit/USD", "most reward bits per dollar of RL")
ceiling_ratio = quantity("ceiling_ratio", r"\nu_{\mathrm{bit}}", "1",
                         "bits of a pre-training token over the ceiling of an RL token")

heading("Tokens, lengths, trajectories")
prompt_tokens = quantity("prompt_tokens", "P", "token", "mean prompt tokens")
response_tokens = quantity("response_tokens", "L", "token", "mean generated tokens of one rollout, all turns", "(0,inf)")
response_tokens_cv = quantity("response_tokens_cv", r"\mathrm{cv}", "1",
                              "standard deviation over mean of the uncut response length", "[0,10]")
max_response_tokens = quantity("max_response_tokens", r"L_{\max}", "token", "cap on generated tokens", "(0,inf]")
looping_share = quantity("looping_share", r"\xi_{\mathrm{loop}}", "1",
                         "share of responses that never end and run to the cap, beyond the tail of the others", "[0,1)")
cut_share = quantity("cut_share", r"\xi_{\mathrm{cut}}", "1", "share of responses that end at the cap", "[0,1]")
loop_tokens = quantity("loop_tokens", r"L_{\mathrm{loop}}", "token", "where a response that never ends is cut; 0 without any")
ended_response_tokens = quantity("ended_response_tokens", r"L_{\mathrm{end}}", "token",
                                 "mean length of the responses that do not loop", "(0,inf)")
log_length_sd = quantity("log_length_sd", r"\sigma_L", "1", "sd of ln L_i (lognormal lengths)", "[0,5]")
log_length_location = quantity("log_length_location", r"m_L", "1", "mean of ln L_i before the cap", "(-inf,inf)")
square_response_tokens = quantity("square_response_tokens", r"\mathrm{E}[L_i^2]", "token^2", "second moment of length")
longest_response_tokens = quantity("longest_response_tokens", r"L_{(n)}", "token",
                                   "expected length of the longest response of a step")
race_tokens = quantity("race_tokens", r"L_{\mathrm{race}}", "token",
                       "length at which a round ends that keeps the first n of the rollouts started")
kept_response_tokens = quantity("kept_response_tokens", r"L_{\mathrm{kept}}", "token", "mean length of the rollouts kept")
blom_tokens = quantity("blom_tokens", r"L_{\mathrm{Blom}}", "token",
                       "hand formula for the longest of n uncut responses")
biased_response_tokens = quantity("biased_response_tokens", r"L_{\mathrm b}", "token",
                                  "length-biased mean: length of the response that a random token belongs to")
turns = quantity("turns", "T", "turn", "model calls in one trajectory", "[1,inf)")
tool_tokens_per_turn = quantity("tool_tokens_per_turn", r"L_{\mathrm o}", "token", "tokens the environment returns per turn")
tool_tokens = quantity("tool_tokens", r"L_{\mathrm{tool}}", "token", "tokens the environment returns in one trajectory")
new_tokens_per_turn = quantity("new_tokens_per_turn", r"L_{\mathrm c}", "token", "context added before each call")
prefix_cached = quantity("prefix_cached", r"1_{\mathrm{cache}}", "1", "1 where earlier turns stay in the KV cache", "[0,1]")
prefill_tokens = quantity("prefill_tokens", r"L_{\mathrm{pre}}", "token", "tokens prefilled in one trajectory")
trajectory_tokens = quantity("trajectory_tokens", r"L_{\mathrm{all}}", "token", "all tokens of one trajectory", "(0,inf)")
context_tokens = quantity("context_tokens", "x", "token", "mean context while decoding")
peak_context_tokens = quantity("peak_context_tokens", r"x_{\max}", "token", "cached tokens that an engine must hold per resident")
training_context_tokens = quantity("training_context_tokens", r"x_{\mathrm{tr}}", "token",
                                   "token-weighted mean length of training sequences")
generated_tokens_per_step = quantity("generated_tokens_per_step", r"N_{\mathrm{gen}}", "token", "tokens generated in one step")
processed_tokens_per_step = quantity("processed_tokens_per_step", r"N_{\mathrm{all}}", "token",
                                     "tokens that the update reads in one step")
environment_seconds_per_turn = quantity("environment_seconds_per_turn", r"\tau_{\mathrm{env}}", "s",
                                        "time of one environment turn")
environment_seconds_per_rollout = quantity("environment_seconds_per_rollout", r"\tau_{\mathrm{env},n}", "s",
                                           "environment time in one trajectory")
environment_cpus = quantity("environment_cpus", r"n_{\mathrm{cpu}}", "vCPU", "processors per trajectory")
environment_cpu_seconds = quantity("environment_cpu_seconds", r"\tau_{\mathrm{cpu}}", "s",
                                   "vCPU-seconds of environments in one step, paid while trajectories live")
container_seconds_per_rollout = quantity("container_seconds_per_rollout", r"\tau_{\mathrm{box}}", "s",
                                         "time from the start to the end of a trajectory, for which it holds a container",
                                         "(0,inf)")
containers = quantity("containers", r"n_{\mathrm{box}}", "1", "containers that live at the same time, trajectories in flight")
container_use = quantity("container_use", r"\xi_{\mathrm{box}}", "1", "share of a container's life in which it works", "[0,1]")
environment_usd_per_rollout = quantity("environment_usd_per_rollout", r"c_{\mathrm{box}}", "USD/rollout",
                                       "sandbox rent of one trajectory")
decoded_share = quantity("decoded_share", r"\xi_{\mathrm{dec}}", "1", "share of a trajectory's tokens that the model writes", "(0,1]")
prefill_ratio = quantity("prefill_ratio", r"\nu_{\mathrm{pre}}", "1",
                         "tokens prefilled without a prefix cache over those with one", "[1,inf)")

heading("Architecture")
total_parameters = quantity("total_parameters", "N", "1", "parameters", "(0,inf)")
trunk_parameters = quantity("trunk_parameters", r"N_{\mathrm{trunk}}", "1",
                            "matrix parameters outside routed experts and output head", "(0,inf)")
head_parameters = quantity("head_parameters", r"N_{\mathrm{head}}", "1", "parameters of the output head")
expert_parameters = quantity("expert_parameters", r"N_{\mathrm{exp}}", "1", "parameters of all routed experts")
active_parameters_matmul = quantity("active_parameters_matmul", r"N_{\mathrm{act}}", "1",
                                    "parameters used per token (head once, no input embedding)", "(0,inf)")
trainable_parameters = quantity("trainable_parameters", r"N_{\mathrm{train}}", "1", "parameters that the update changes",
                                "(0,inf)")
layers = quantity("layers", r"n_\ell", "layer", "layers", "Z[1,inf)")
moe_layers = quantity("moe_layers", r"n_{\ell,\mathrm{exp}}", "layer", "layers with routed experts", "Z[0,inf)")
hidden = quantity("hidden", r"d_{\mathrm{model}}", "1", "width of the residual stream", "Z[1,inf)")
experts = quantity("experts", r"n_{\mathrm e}", "1", "routed experts per layer (1 for a dense model)", "Z[1,inf)")
experts_per_token = quantity("experts_per_token", r"k_{\mathrm e}", "1", "active experts per token", "Z[1,inf)")
experts_touched_share = quantity("experts_touched_share", r"e_b", "1", "share of experts read in one decode step", "[0,1]")
kv_elements_per_token = quantity("kv_elements_per_token", r"n_{kv}", "1/token",
                                 "cached numbers per token of context, layers with full attention")
window_kv_elements_per_token = quantity("window_kv_elements_per_token", r"n_{kv,w}", "1/token",
                                        "cached numbers per token, layers with a sliding window")
window_tokens = quantity("window_tokens", r"w", "token", "sliding window", "(0,inf]")
state_bytes = quantity("state_bytes", r"M_{\mathrm{state}}", "byte", "fixed state per sequence (linear layers)")
attention_flops_per_context_token = quantity(
    "attention_flops_per_context_token", r"\kappa_f", "FLOP/(token token)",
    "attention FLOPs per generated token and token of context, while decoding")
window_attention_flops_per_context_token = quantity(
    "window_attention_flops_per_context_token", r"\kappa_{f,w}", "FLOP/(token token)",
    "the same for layers with a sliding window")
attention_flops_per_context_token_training = quantity(
    "attention_flops_per_context_token_training", r"\kappa_{f,\mathrm{tr}}", "FLOP/(token token)",
    "attention FLOPs per token and token of context in a forward pass, before the causal half")
window_attention_flops_per_context_token_training = quantity(
    "window_attention_flops_per_context_token_training", r"\kappa_{f,w,\mathrm{tr}}", "FLOP/(token token)",
    "the same for layers with a sliding window")
kv_shards_max = quantity("kv_shards_max", r"n_{\mathrm{shard}}", "GPU", "GPUs that can split one sequence's KV cache",
                         "Z[1,inf)")
lora_rank = quantity("lora_rank", r"r_{\mathrm L}", "1", "LoRA rank; 0 trains all parameters", "Z[0,inf)")
adapter_parameters = quantity("adapter_parameters", r"N_{\mathrm{ad}}", "1", "parameters of one adapter")

heading("Hardware")
gpus = quantity("gpus", r"n_{\mathrm{gpu}}", "GPU", "GPUs of the run", "Z[1,inf)")
rollout_pool_gpus = quantity("rollout_pool_gpus", r"n_{\mathrm{roll}}", "GPU", "GPUs that generate", "(0,inf)")
training_pool_gpus = quantity("training_pool_gpus", r"n_{\mathrm{train}}", "GPU", "GPUs that train", "(0,inf)")
tensor_parallel = quantity("tensor_parallel", r"n_{\mathrm{tp}}", "GPU", "GPUs per inference engine", "Z[1,inf)")
engines = quantity("engines", r"n_{\mathrm{eng}}", "engine", "inference engines", "(0,inf)")
gpus_per_node = quantity("gpus_per_node", r"n_{\mathrm{node}}", "GPU", "GPUs that share the fast link", "Z[1,inf)")
memory_bytes = quantity("memory_bytes", r"M_{\mathrm{gpu}}", "byte", "memory of one GPU", "(0,inf)")
memory_bytes_per_second = quantity("memory_bytes_per_second", r"\mathrm{BW}", "byte/s", "memory bandwidth", "(0,inf)")
link_bytes_per_second = quantity("link_bytes_per_second", r"\mathrm{BW}_{\mathrm{link}}", "byte/s",
                                 "link of one GPU within a node, one direction", "(0,inf]")
host_link_bytes_per_second = quantity("host_link_bytes_per_second", r"\mathrm{BW}_{\mathrm{host}}", "byte/s",
                                      "link of one GPU to its CPU, one direction", "(0,inf)")
rollout_flops_per_second = quantity("rollout_flops_per_second", r"F_{\mathrm{roll}}", "FLOP/s",
                                    "dense peak at the precision of rollout weights", "(0,inf)")
bf16_flops_per_second = quantity("bf16_flops_per_second", r"F_{16}", "FLOP/s", "dense peak at 16 bits", "(0,inf)")
train_flops_per_second = quantity("train_flops_per_second", r"F_{\mathrm{train}}", "FLOP/s",
                                  "dense peak at the precision of training", "(0,inf)")
weight_bits = quantity("weight_bits", r"\mathrm{bits}_w", "bit", "precision of weights in rollout", "(0,64]")
head_bits = quantity("head_bits", r"\mathrm{bits}_h", "bit", "precision of the output head in rollout", "(0,64]")
kv_bits = quantity("kv_bits", r"\mathrm{bits}_{kv}", "bit", "precision of the KV cache", "(0,64]")
train_bits = quantity("train_bits", r"\mathrm{bits}_t", "bit", "precision of training", "(0,64]")
activation_bits = quantity("activation_bits", r"\mathrm{bits}_a", "bit", "precision of activations", "(0,64]")

heading("Calibrated constants")
weight_read_efficiency = quantity("weight_read_efficiency", r"\eta_w", "1", "achieved share of bandwidth, weights", "(0,1]")
kv_read_efficiency = quantity("kv_read_efficiency", r"\eta_{kv}", "1", "achieved share of bandwidth, KV cache", "(0,1]")
compute_efficiency = quantity("compute_efficiency", r"\eta_f", "1", "achieved share of peak FLOP/s in rollout", "(0,1]")
expert_efficiency = quantity("expert_efficiency", r"\eta_x", "1", "further share achieved by routed experts", "(0,1]")
latency_per_layer_seconds = quantity("latency_per_layer_seconds", r"\tau_\ell", "s", "fixed time per layer and decode step")
host_seconds_per_sequence = quantity("host_seconds_per_sequence", r"\tau_{\mathrm{seq}}", "s",
                                     "host time per sequence and decode step")
request_seconds = quantity("request_seconds", r"\tau_{\mathrm{req}}", "s",
                           "engine time per request: tokenizing, scheduling, first and last step")
collective_seconds = quantity("collective_seconds", r"\tau_{\mathrm{coll}}", "s", "time of one collective within a node")
cross_node_factor = quantity("cross_node_factor", r"a_{\mathrm{node}}", "1",
                             "how much slower a collective is per doubling of nodes", "[1,inf)")
link_efficiency = quantity("link_efficiency", r"\eta_{\mathrm{link}}", "1", "achieved share of the link", "(0,1]")
engine_memory_share = quantity("engine_memory_share", r"\eta_{\mathrm{mem}}", "1",
                               "share of GPU memory that the engine may use", "(0,1]")
reserved_bytes = quantity("reserved_bytes", r"M_{\mathrm{res}}", "byte", "memory the engine keeps for itself, per GPU")
max_sequences_per_engine = quantity("max_sequences_per_engine", r"b_{\mathrm{cap}}", "sequence", "scheduler cap", "(0,inf]")
train_expert_efficiency = quantity("train_expert_efficiency", r"\eta_{x,t}", "1",
                                   "speed of an expert's matrix products in training over that of dense ones", "(0,1]")
paced_flops_per_token = quantity("paced_flops_per_token", r"f_{\mathrm{pace}}", "FLOP/token",
                                 "forward matrix FLOPs of one token; those of experts count by the time they take")
train_efficiency = quantity("train_efficiency", r"\eta_t", "1", "share of peak that a dense trainer executes", "(0,1]")
train_attention_efficiency = quantity("train_attention_efficiency", r"\eta_{\mathrm{att}}", "1",
                                      "share of the 16-bit peak that attention reaches in training", "(0,1]")
moe_dispatch_bytes = quantity("moe_dispatch_bytes", r"a_{\mathrm{disp}}", "byte",
                              "bytes moved per routed activation in training (dispatch, combine)")
optimizer_seconds_per_parameter = quantity("optimizer_seconds_per_parameter", r"\tau_{\mathrm{opt}}", "s",
                                           "GPU-seconds per parameter of one optimizer step")
weight_sync_bytes_per_second = quantity("weight_sync_bytes_per_second", r"\mathrm{BW}_{\mathrm{sync}}", "byte/s",
                                        "rate at which new weights reach the engines, whole model", "(0,inf)")
overlapped_sync_share = quantity("overlapped_sync_share", r"a_{\mathrm{sync}}", "1",
                                 "share of the weight transfer that stays exposed where streams overlap", "[0,1]")
overlapped_overhead_share = quantity("overlapped_overhead_share", r"a_{\mathrm{over}}", "1",
                                     "share of the step overhead that stays exposed where streams overlap", "[0,1]")
step_overhead_seconds = quantity("step_overhead_seconds", r"\tau_{\mathrm{fix}}", "s",
                                 "switching, data and reward work of one step")
colocation_factor = quantity("colocation_factor", r"a_{\mathrm{colo}}", "1",
                             "extra trainer time where rollout and training share GPUs", "[1,inf)")
draft_cost_share = quantity("draft_cost_share", r"a_{\mathrm{draft}}", "1",
                            "time of one drafted token over time of one decode step", "[0,1]")

heading("Generation")
speculative_acceptance = quantity("speculative_acceptance", r"a_{\mathrm s}", "1",
                                  "chance that a drafted token is accepted", "[0,1)")
speculative_drafts = quantity("speculative_drafts", "k", "token", "drafted tokens per verification", "Z[0,inf)")
tokens_per_verification = quantity("tokens_per_verification", r"n_{\mathrm{tok}}", "token",
                                   "expected tokens gained per decode step", "(0,inf)")
verified_tokens = quantity("verified_tokens", r"k_{\mathrm v}", "token", "tokens computed per sequence and decode step", "(0,inf)")
dense_weight_bytes = quantity("dense_weight_bytes", r"W_{\mathrm d}", "byte", "weight bytes outside routed experts")
expert_weight_bytes = quantity("expert_weight_bytes", r"W_{\mathrm x}", "byte", "weight bytes of all routed experts")
streamed_weight_bytes = quantity("streamed_weight_bytes", "W", "byte", "weight bytes read in one decode step")
engine_weight_bytes = quantity("engine_weight_bytes", r"W_{\mathrm{eng}}", "byte", "weights that one engine holds")
kv_bytes_per_token = quantity("kv_bytes_per_token", r"\kappa", "byte/token", "KV cache per token of context, full layers")
window_kv_bytes_per_token = quantity("window_kv_bytes_per_token", r"\kappa_w", "byte/token", "the same, window layers")
kv_bytes_per_sequence = quantity("kv_bytes_per_sequence", r"M_{kv}", "byte", "KV cache of one sequence at the mean context")
kv_bytes_at_peak = quantity("kv_bytes_at_peak", r"M_{kv,\max}", "byte", "KV cache of one sequence at its full length")
kv_shards = quantity("kv_shards", r"n'_{\mathrm{tp}}", "GPU", "GPUs over which one engine splits its KV cache", "(0,inf)")
kv_room_bytes = quantity("kv_room_bytes", r"M_{\mathrm{room}}", "byte", "memory for KV cache on one GPU", "(-inf,inf)")
resident_limit = quantity("resident_limit", r"b_{\max}", "sequence", "most sequences that one engine can hold", "(-inf,inf)")
sequences_per_engine = quantity("sequences_per_engine", r"n_{\mathrm s}", "sequence", "sequences of one step per engine",
                                "(0,inf)")
resident_sequences = quantity("resident_sequences", "b", "sequence", "sequences held together by one engine", "(0,inf)")
decoding_sequences = quantity("decoding_sequences", r"b_{\mathrm{dec}}", "sequence",
                              "residents that decode while others wait for their environment", "(0,inf)")
concurrent_requests = quantity("concurrent_requests", r"n_{\mathrm{req}}", "sequence", "requests in flight in a load test",
                               "(0,inf)")
engine_nodes = quantity("engine_nodes", r"n_{\mathrm{nodes}}", "node", "nodes that one engine spans", "[1,inf)")
hop_seconds = quantity("hop_seconds", r"\tau_{\mathrm{hop}}", "s", "time of one collective of the engine")
fixed_step_seconds = quantity("fixed_step_seconds", r"\tau_0", "s", "time of a decode step that no batch changes")
dense_read_seconds = quantity("dense_read_seconds", r"\tau_w", "s", "reading the dense weights once")
dense_compute_seconds_per_sequence = quantity("dense_compute_seconds_per_sequence", r"\tau_{f}", "s",
                                              "dense arithmetic of one decode step, per sequence")
expert_read_seconds = quantity("expert_read_seconds", r"\tau_x", "s", "reading all routed experts once")
expert_compute_seconds_per_sequence = quantity("expert_compute_seconds_per_sequence", r"\tau_{xf}", "s",
                                               "expert arithmetic of one decode step, per sequence")
attention_seconds_per_sequence = quantity("attention_seconds_per_sequence", r"\tau_{kv}", "s",
                                          "reading (or computing on) one sequence's KV cache in one decode step")
link_seconds_per_sequence = quantity("link_seconds_per_sequence", r"\tau_{\mathrm{link}}", "s",
                                     "all-reduce volume of one decode step, per sequence")
slope_seconds = quantity("slope_seconds", r"\tau_b", "s", "time that one more sequence adds to a decode step")
dense_seconds = quantity("dense_seconds", r"\tau_{\mathrm d}", "s", "dense part of a decode step")
expert_seconds = quantity("expert_seconds", r"\tau_{\mathrm{exp}}", "s", "expert part of a decode step")
inter_token_seconds = quantity("inter_token_seconds", r"\tau_{\mathrm{itl}}", "s",
                               "time of one decode step, prefill left out", "(0,inf)")
draft_seconds = quantity("draft_seconds", r"\tau_{\mathrm{draft}}", "s", "drafting time of one decode step")
prefill_seconds_per_sequence = quantity("prefill_seconds_per_sequence", r"\tau_{\mathrm{pre}}", "s",
                                        "prefill of one trajectory on its engine")
decode_seconds_per_sequence = quantity("decode_seconds_per_sequence", r"\tau_{\mathrm{seq,dec}}", "s",
                                       "time one sequence spends decoding", "(0,inf)")
engine_sequences_per_second = quantity("engine_sequences_per_second", r"\nu_{\mathrm{seq}}", "sequence/s",
                                       "sequences that one full engine finishes per second", "(0,inf)")
drain_tokens = quantity("drain_tokens", r"L_{\mathrm{drain}}", "token", "decode steps from the last refill to the end")
ended_drain_tokens = quantity("ended_drain_tokens", r"L_{\mathrm{drain},\mathrm{end}}", "token",
                              "decode steps from the last refill to the end, were there no loops")
expert_drain_tokens = quantity("expert_drain_tokens", r"L_{\mathrm{drain},x}", "token",
                               "full reads of the experts during the drain")
refill_tokens = quantity("refill_tokens", r"L_{\mathrm{waves}}", "token", "decode steps until the queue is empty")
refill_seconds = quantity("refill_seconds", r"\tau_{\mathrm{waves}}", "s", "full engine, until the queue is empty")
drain_seconds = quantity("drain_seconds", r"\tau_{\mathrm{drain}}", "s", "from the empty queue to the last sequence")
batch_generation_seconds = quantity("batch_generation_seconds", r"\tau_{\mathrm{batch}}", "s",
                                    "generation of one step, synchronous")
continuous_generation_seconds = quantity("continuous_generation_seconds", r"\tau_{\mathrm{cont}}", "s",
                                         "generation of one step, engines always refilled")
measured_tokens_per_second_per_gpu = quantity("measured_tokens_per_second_per_gpu", r"\nu_{\mathrm{meas}}", "token/(s GPU)",
                                              "measured generation rate; 0 where the model predicts it")
load_test_tokens_per_second_per_gpu = quantity(
    "load_test_tokens_per_second_per_gpu", r"\nu_{\mathrm{load}}", "token/(s GPU)",
    "generated tokens per second and GPU that a load test reports", "(0,inf)")
decode_mfu = quantity("decode_mfu", r"\mathrm{MFU}_{\mathrm{dec}}", "1", "share of peak FLOP/s used while generating")
decode_bandwidth_utilisation = quantity("decode_bandwidth_utilisation", r"\mathrm{MBU}", "1",
                                        "share of bandwidth used by one decode step")
ridge_sequences = quantity("ridge_sequences", r"b_{\mathrm{ridge}}", "sequence", "batch where weight reads and compute tie")
roofline_seconds = quantity("roofline_seconds", r"\tau_{\mathrm{roof}}", "s", "decode step at the peaks, nothing else",
                            "(0,inf)")

speculation_gain = quantity("speculation_gain", r"\psi_{\mathrm{spec}}", "1", "old over new time per token, with drafts", "(0,inf)")
precision_gain = quantity("precision_gain", r"\psi_{\mathrm{bits}}", "1", "old over new time of a decode step, with fewer bits",
                          "(0,inf)")
weight_time_share = quantity("weight_time_share", r"\xi_w", "1", "share of a decode step that reads weights", "[0,1]")
kv_time_share = quantity("kv_time_share", r"\xi_{kv}", "1", "share of a decode step that reads the cache", "[0,1]")
compute_time_share = quantity("compute_time_share", r"\xi_f", "1", "share of a decode step bound by arithmetic", "[0,1]")
weight_bits_ratio = quantity("weight_bits_ratio", r"\nu_{\mathrm{bits},w}", "1", "new over old bytes of streamed weights", "(0,inf)")
kv_bits_ratio = quantity("kv_bits_ratio", r"\nu_{\mathrm{bits},kv}", "1", "new over old bytes of the cache", "(0,inf)")
bandwidth_ratio = quantity("bandwidth_ratio", r"\nu_{bw}", "1", "memory bandwidth of the new GPU over that of the old", "(0,inf)")
flops_ratio = quantity("flops_ratio", r"\nu_{fl}", "1", "peak FLOP/s of the new GPU over that of the old", "(0,inf)")
rent_ratio = quantity("rent_ratio", r"\nu_{\mathrm{rent}}", "1", "rent of the new GPU over that of the old", "(0,inf)")
bandwidth_time_share = quantity("bandwidth_time_share", r"\xi_{bw}", "1", "share of GPU time bound by memory bandwidth", "[0,1]")
flops_time_share = quantity("flops_time_share", r"\xi_{fl}", "1", "share of GPU time bound by arithmetic", "[0,1]")
usd_ratio = quantity("usd_ratio", r"\nu_c", "1", "dollars of the same work on the new GPU over those on the old", "(0,inf)")
compute_time_ratio = quantity("compute_time_ratio", r"\nu_{\mathrm{bits},f}", "1", "new over old time of arithmetic", "(0,inf)")

heading("Training")
epochs = quantity("epochs", r"n_{\mathrm{ep}}", "1", "passes over a step's rollouts", "Z[1,inf)")
minibatches = quantity("minibatches", r"n_{\mathrm{mb}}", "1", "optimizer steps per pass", "Z[1,inf)")
forward_flops_per_token = quantity("forward_flops_per_token", r"f_{\mathrm{fwd}}", "FLOP/token",
                                   "FLOPs of a forward pass per token", "(0,inf)")
backward_passes = quantity("backward_passes", r"n_{\mathrm{bwd}}", "1",
                           "cost of forward, backward and recomputation in forward passes", "(0,inf)")
matmul_flops_per_token = quantity("matmul_flops_per_token", r"f_{\mathrm{mat}}", "FLOP/token",
                                  "FLOPs of matrix products in a forward pass, per token", "(0,inf)")
causal_attention_flops_per_token = quantity("causal_attention_flops_per_token", r"f_{\mathrm{att}}", "FLOP/token",
                                            "FLOPs of causal attention in a forward pass, per token")
attention_passes = quantity("attention_passes", r"n_{\mathrm{att,bwd}}", "1",
                            "cost of attention in forward, backward and recomputation, in forward passes", "(0,inf)")
update_tokens = quantity("update_tokens", r"n_{\mathrm{upd}}", "token", "tokens that the update reads", "(0,inf)")
update_flops = quantity("update_flops", r"f_{\mathrm{upd}}", "FLOP", "FLOPs of the update of one step", "(0,inf)")
update_compute_seconds = quantity("update_compute_seconds", r"\tau_{\mathrm{fb}}", "s", "forward and backward of the update")
dispatch_seconds_per_pass = quantity("dispatch_seconds_per_pass", r"\tau_{\mathrm{disp}}", "s",
                                     "moving routed activations in one forward pass over the update's tokens")
optimizer_steps = quantity("optimizer_steps", r"n_{\mathrm{opt}}", "1", "optimizer steps in one step of the run", "[0,inf)")
optimizer_seconds = quantity("optimizer_seconds", r"\tau_{\mathrm{optstep}}", "s", "optimizer steps of one step")
offload = quantity("offload", r"1_{\mathrm{off}}", "1", "1 where optimizer state lives on the CPU", "[0,1]")
optimizer_state_bytes_per_parameter = quantity("optimizer_state_bytes_per_parameter", r"M_{\mathrm{opt}}", "byte",
                                               "weights, gradients and Adam state per trained parameter", "(0,inf)")
critic = quantity("critic", r"1_{\mathrm{critic}}", "1", "1 where a critic of the model's size is trained", "[0,1]")
old_logprobs = quantity("old_logprobs", r"1_{\mathrm{old}}", "1", "1 where old log-probabilities are recomputed", "[0,1]")
reference_model = quantity("reference_model", r"1_{\mathrm{ref}}", "1", "1 where a reference model scores", "[0,1]")
activation_recompute = quantity("activation_recompute", r"1_{\mathrm{rec}}", "1",
                                "1 where activations are recomputed in the backward pass", "[0,1]")
full_training = quantity("full_training", r"1_{\mathrm{full}}", "1", "1 for full-parameter training, 0 for LoRA", "[0,1]")
measured_mfu = quantity("measured_mfu", r"\mathrm{MFU}_{\mathrm{meas}}", "1",
                        "measured model-FLOPs utilisation of the update; 0 where the model predicts it", "[0,1]")
update_seconds = quantity("update_seconds", r"\tau_{\mathrm{upd}}", "s", "update of one step", "(0,inf)")
logprob_seconds = quantity("logprob_seconds", r"\tau_{\mathrm{fwd}}", "s", "one forward pass over the step's tokens")
old_logprobs_seconds = quantity("old_logprobs_seconds", r"\tau_{\mathrm{old}}", "s", "old log-probabilities")
reference_seconds = quantity("reference_seconds", r"\tau_{\mathrm{ref}}", "s", "reference model and critic values")
model_flops = quantity("model_flops", r"f_{\mathrm{model}}", "FLOP",
                       "FLOPs that the update needs, without recomputation", "(0,inf)")
train_mfu = quantity("train_mfu", r"\mathrm{MFU}_{\mathrm{tr}}", "1", "model-FLOPs utilisation of the update (16-bit peak)")
activation_bytes_per_token = quantity("activation_bytes_per_token", r"M_{\mathrm{act}}", "byte/token",
                                      "activations kept per token, layer and unit of width")
microbatch_tokens = quantity("microbatch_tokens", r"L_{\mathrm{mb}}", "token", "tokens of one micro-batch on one GPU")
model_parallel = quantity("model_parallel", r"n_{\mathrm{mp}}", "GPU", "GPUs that share one copy's activations", "[1,inf)")
update_state_bytes_per_gpu = quantity("update_state_bytes_per_gpu", r"M_{\mathrm{state,upd}}", "byte", "weights, gradients, optimizer state on one GPU")
update_bytes_per_gpu = quantity("update_bytes_per_gpu", r"M_{\mathrm{upd}}", "byte", "memory of the update on one GPU")
rollout_bytes_per_gpu = quantity("rollout_bytes_per_gpu", r"M_{\mathrm{roll}}", "byte", "memory of the engine on one GPU")

heading("Step")
overlap_gain = quantity("overlap_gain", r"\nu_{\mathrm{over}}", "1",
                        "step time of two pools in turn over that of the same pools side by side", "[1,inf)")
concurrent_streams = quantity("concurrent_streams", r"1_{\parallel}", "1",
                              "1 where generation and training run at the same time on two pools", "[0,1]")
continuous_generation = quantity("continuous_generation", r"1_{\mathrm{cont}}", "1",
                                 "1 where engines never wait for the end of a step", "[0,1]")
shared_pool = quantity("shared_pool", r"1_{\mathrm{pool}}", "1", "1 where rollout and training share all GPUs", "[0,1]")
staleness_steps = quantity("staleness_steps", r"\varsigma", "step", "bound on the age of a rollout's policy", "Z[0,inf)")
rollout_seconds = quantity("rollout_seconds", r"\tau_{\mathrm{gen}}", "s", "generation of one step", "[0,inf)")
environment_seconds = quantity("environment_seconds", r"\tau_{\mathrm{envs}}", "s",
                               "environment time that the step waits for")
generation_stream_seconds = quantity("generation_stream_seconds", r"\tau_{\mathrm{stream}}", "s",
                                     "generation and environments of one step")
training_stream_seconds = quantity("training_stream_seconds", r"\tau_{\mathrm{train}}", "s",
                                   "log-probability passes and update of one step")
weight_sync_seconds = quantity("weight_sync_seconds", r"\tau_{\mathrm{sync}}", "s", "new weights to the engines")
overhead_seconds = quantity("overhead_seconds", r"\tau_{\mathrm{over}}", "s", "switching, data and reward work")
evaluation_seconds_per_step = quantity("evaluation_seconds_per_step", r"\tau_{\mathrm{eval}}", "s", "evaluation per step")
judge_gpus = quantity("judge_gpus", r"n_{\mathrm{judge},0}", "GPU", "GPUs of the judge's own; 0 scores on those of rollouts", "Z[0,inf)")
judge_pool_gpus = quantity("judge_pool_gpus", r"n_{\mathrm{judge}}", "GPU", "GPUs that judge or teach", "(0,inf)")
judge_active_parameters = quantity("judge_active_parameters", r"N_{\mathrm{judge}}", "1",
                                   "active parameters of the judge or teacher in matrix products; 0 without one")
judge_attention_flops = quantity("judge_attention_flops", r"\kappa_{f,\mathrm{judge}}", "FLOP/(token token)",
                                 "attention FLOPs of the judge or teacher per token and token of context, forward")
judge_flops_per_token = quantity("judge_flops_per_token", r"f_{\mathrm{judge}}", "FLOP/token",
                                 "FLOPs of the judge or teacher per token that it reads")
judge_weight_bytes = quantity("judge_weight_bytes", r"W_{\mathrm{judge}}", "byte", "weights of the judge or teacher")
judge_response_tokens = quantity("judge_response_tokens", r"L_{\mathrm{judge}}", "token/rollout",
                                 "tokens that the judge writes about one rollout; 0 where it only scores")
judge_tokens_per_second_per_gpu = quantity("judge_tokens_per_second_per_gpu", r"\nu_{\mathrm{judge}}", "token/(s GPU)",
                                           "rate at which the judge writes", "(0,inf)")
judge_seconds = quantity("judge_seconds", r"\tau_{\mathrm{judge}}", "s", "reading, and writing, of the judge or teacher in one step")
reward_seconds = quantity("reward_seconds", r"\tau_{\mathrm{rew}}", "s", "judge or teacher, and switching, data and reward work")
step_seconds = quantity("step_seconds", r"\tau_{\mathrm{step}}", "s", "one step, wall clock", "(0,inf)")
idle_seconds = quantity("idle_seconds", r"\tau_{\mathrm{idle}}", "s", "GPU-idle time of one step, over all GPUs alike")
rollout_share = quantity("rollout_share", r"\xi", "1", "share of rollout in step time", "[0,1]")

heading("Money")
usd_per_gpu_hour = quantity("usd_per_gpu_hour", r"c_{\mathrm{gpu}}", "USD/(GPU h)", "rent of one GPU")
usd_per_cpu_hour = quantity("usd_per_cpu_hour", r"c_{\mathrm{cpu}}", "USD/(vCPU h)", "rent of one sandbox processor")
steps = quantity("steps", "S", "step", "training steps of the run", "(0,inf)")
attempts = quantity("attempts", r"n_{\mathrm{att}}", "1", "launches per successful run", "[1,inf)")
gpu_hours_per_step = quantity("gpu_hours_per_step", r"h_{\mathrm{step}}", "GPU h", "GPU-hours of one step")
hours_growth = quantity("hours_growth", r"\nu_h", "1", "GPU-hours of the mean step over those of the first, where responses grow", "(0,inf)")
environment_growth = quantity("environment_growth", r"\nu_{\mathrm{env}}", "1",
                              "sandbox rent of the mean step over that of the first, where responses grow", "(0,inf)")
gpu_hours_run = quantity("gpu_hours_run", r"h_{\mathrm{run}}", "GPU h", "GPU-hours of the run")
gpu_usd_per_step = quantity("gpu_usd_per_step", r"c_{\mathrm{gpu,step}}", "USD/step", "GPU rent of one step")
environment_usd_per_step = quantity("environment_usd_per_step", r"c_{\mathrm{env,step}}", "USD/step",
                                    "sandbox rent of one step")
usd_per_step = quantity("usd_per_step", r"c_{\mathrm{step}}", "USD/step", "bill of one step")
environment_usd_run = quantity("environment_usd_run", r"c_{\mathrm{env}}", "USD", "sandbox rent of the run")
usd_run = quantity("usd_run", r"c_{\mathrm{train}}", "USD", "bill of the run")
build_usd = quantity("build_usd", r"c_{\mathrm{build}}", "USD", "bill of building a set of tasks")
runs = quantity("runs", "R", "run", "runs that share the tasks", "[1,inf)")
environment_build_usd = quantity("environment_build_usd", r"c_{\mathrm{share}}", "USD", "this run's share of building")
usd_per_mixed_group = quantity("usd_per_mixed_group", r"c_{\mathrm{mixed}}", "USD/group", "dollars per mixed group")
usd_per_bit = quantity("usd_per_bit", r"c_{\mathrm{bit}}", "USD/bit", "dollars per reward bit")
fleet_price_ratio = quantity("fleet_price_ratio", r"\nu_{\mathrm{fleet}}", "1",
                             "price of writing the same tokens on another fleet over that on the training GPUs", "[0,inf)")
fleet_saving = quantity("fleet_saving", r"\xi_{\mathrm{fleet}}", "1", "share of the bill that another fleet for rollouts saves",
                        "(-inf,1]")
usd_per_token = quantity("usd_per_token", r"c_{\mathrm{tok}}", "USD/token", "cost of one generated token, all included")
gpu_seconds_per_token = quantity("gpu_seconds_per_token", r"\tau_{\mathrm{tok}}", "s/token",
                                 "GPU-seconds of a step, all phases and idle time, per generated token", "(0,inf)")
rollouts_per_bit = quantity("rollouts_per_bit", r"n_{/\mathrm{bit}}", "rollout/bit",
                            "rollouts paid for per bit of reward, at the ceiling", "(0,inf]")

heading("Settings of a run file, before the rules of rlecon.settings turn them into what equations take")
rollout_gpus = quantity("rollout_gpus", r"n_{\mathrm{pool}}", "GPU", "GPUs of a separate generating pool; 0 shares all", "Z[0,inf)")
one_step_overlap = quantity("one_step_overlap", r"1_{\mathrm{one}}", "1", "1 where the next step is generated while this one trains", "[0,1]")
full_overlap = quantity("full_overlap", r"1_{\mathrm{full}\parallel}", "1", "1 where generation never waits for training", "[0,1]")
partial_rollouts = quantity("partial_rollouts", r"1_{\mathrm{part}}", "1", "1 where unfinished trajectories continue in the next step", "[0,1]")
group_relative = quantity("group_relative", r"1_{\mathrm{rel}}", "1", "1 where advantages compare the rollouts of a group", "[0,1]")
requested_memory_share = quantity("requested_memory_share", r"\eta_{\mathrm{mem},0}", "1", "memory share asked for; 0 for the usual one", "[0,1]")
colocated_memory_share = quantity("colocated_memory_share", r"\eta_{\mathrm{mem,one}}", "1", "usual memory share in one pool", "(0,1]")
separate_memory_share = quantity("separate_memory_share", r"\eta_{\mathrm{mem,two}}", "1", "usual memory share in a pool of its own", "(0,1]")
shared_pool_factor = quantity("shared_pool_factor", r"a_{\mathrm{one}}", "1", "trainer time in one pool over that in a pool of its own", "[1,inf)")
requested_drafts = quantity("requested_drafts", r"k_0", "token", "drafted tokens per verification, where drafts are accepted at all", "Z[0,inf)")
requested_tensor_parallel = quantity("requested_tensor_parallel", r"n_{\mathrm{tp},0}", "GPU", "GPUs per engine asked for; 0 to choose", "Z[0,inf)")
router_parameters = quantity("router_parameters", r"N_{\mathrm{router}}", "1", "parameters that choose experts")
loaded_weight_bytes = quantity("loaded_weight_bytes", r"W_{\mathrm{load}}", "byte", "weights that an engine must hold")
mean_sequence_bytes = quantity("mean_sequence_bytes", r"M_{kv,\mathrm{mean}}", "byte", "KV cache of one sequence of mean length")
lora_parameters_per_rank = quantity("lora_parameters_per_rank", r"N_{\mathrm{ad},1}", "1", "adapter parameters per unit of rank")
training_tensor_parallel = quantity("training_tensor_parallel", r"n_{\mathrm{tp,tr}}", "GPU", "GPUs that split a layer in training", "Z[1,inf)")
training_pipeline_parallel = quantity("training_pipeline_parallel", r"n_{\mathrm{pp,tr}}", "GPU", "pipeline stages in training", "Z[1,inf)")

# --- intervals: residuals of a predicted step, combined ---------------------------------------------------------------
interval_quantile = constant("interval_quantile", r"z_{80}", 1.2815515655446004, "1", "normal quantile that leaves 80 % between its two signs")
rollout_log_sd = quantity("rollout_log_sd", r"\sigma_{\mathrm{gen}}", "1", "residual log-sd of generation time")
update_log_sd = quantity("update_log_sd", r"\sigma_{\mathrm{upd}}", "1", "residual log-sd of training time")
moving_log_sd = quantity("moving_log_sd", r"\sigma_{\mathrm{mov}}", "1", "residual log-sd of weight transfer and overhead")
framework_log_sd = quantity("framework_log_sd", r"\sigma_{\mathrm{fw}}", "1", "log-sd between frameworks, common to all phases")
length_log_sd = quantity("length_log_sd", r"\sigma_{\mathrm{len}}", "1", "log-sd of a step whose mean length is guessed; 0 where it is known")
price_low_log_sd = quantity("price_low_log_sd", r"\sigma_{c-}", "1", "log-sd of the rent below its median; 0 where it is given")
price_high_log_sd = quantity("price_high_log_sd", r"\sigma_{c+}", "1", "log-sd of the rent above its median; 0 where it is given")
step_log_sd = quantity("step_log_sd", r"\sigma_{\mathrm{step}}", "1", "log-sd of the predicted step time")
time_low_factor = quantity("time_low_factor", r"u_{\tau-}", "1", "lower end of an 80 % interval of time over its middle", "[0,1]")
time_high_factor = quantity("time_high_factor", r"u_{\tau+}", "1", "upper end of an 80 % interval of time over its middle", "[1,inf)")
usd_low_factor = quantity("usd_low_factor", r"u_{c-}", "1", "lower end of an 80 % interval of money over its middle", "[0,1]")
usd_high_factor = quantity("usd_high_factor", r"u_{c+}", "1", "upper end of an 80 % interval of money over its middle", "[1,inf)")
